import Analysis
import ChatFeature
import Composable
import HostFeature
import HostScreen
import LiveEvents
import Recordings

/// The messages of a recording, block by block.
struct RecordedMessages: MessageSource {
  /// Owns what cannot be copied.
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
  /// The messages that the room keeps, oldest first.
  func history() -> [WrittenMessage] {
    guard let chat = screen.store.state.chat else { return [] }
    return chat.messages.map { WrittenMessage(timestamp: $0.timestamp, message: $0.message) }
  }

  /// The highlights of the running chat, and how many messages it has had; `nil` unless it is analysed.
  func highlights() -> ([ChatHighlight], messages: Int)? {
    let state = screen.store.state
    guard state.analysesChat == true, let chat = state.chat else { return nil }
    return (chat.highlights?.entries ?? [], chat.total)
  }
}
