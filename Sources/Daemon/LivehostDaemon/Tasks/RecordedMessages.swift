import Analysis
import ChatFeature
import Composable
import HostFeature
import HostScreen
import LiveEvents
import Recordings

/// The chat messages of a recording, read block by block.
struct RecordedMessages: MessageSource {
  /// A box for the reader, which is not copyable.
  private final class Position {
    var reader: RecordingReader
    init(_ files: RecordingFiles) { reader = RecordingReader(files) }
  }

  private let files: RecordingFiles
  private var position: Position
  private var steps: [RecordedStep] = []

  init(_ files: RecordingFiles) throws(RecordingError) {
    self.files = files
    position = Position(files)
  }

  var done: Int { position.reader.bytesRead }
  var total: Int { files.bytes }

  mutating func read(into messages: inout [WrittenMessage]) throws -> Bool {
    guard try position.reader.read(into: &steps) else { return false }
    for step in steps {
      guard case .event(let event, _) = step, case .chat(.message(let message)) = event.payload
      else {
        continue
      }
      messages.append(WrittenMessage(timestamp: event.timestamp, message: message))
    }
    steps.removeAll(keepingCapacity: true)
    return true
  }
}

extension Room {
  /// Returns the chat messages that the room stores, oldest first.
  func history() -> [WrittenMessage] {
    guard let chat = screen.store.state.chat else { return [] }
    return chat.messages.map { WrittenMessage(timestamp: $0.timestamp, message: $0.message) }
  }

  /// Returns the highlights of the current chat and its total number of messages.
  ///
  /// Returns `nil` unless the room analyses its chat.
  func highlights() -> ([ChatHighlight], messages: Int)? {
    let state = screen.store.state
    guard state.analysesChat == true, let chat = state.chat else { return nil }
    return (chat.highlights?.entries ?? [], chat.total)
  }
}
