import Analysis
import ChatFeature
import Composable
import ControlInterface
import HostFeature
import HostScreen
import LiveEvents
import Recordings

/// The chat messages of a recording, read block by block.
struct RecordedMessages: MessageSource {
  /// Holds the reader in a class, because the reader cannot be copied.
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

extension HostScreen {
  /// The messages that the chat stores, oldest first.
  var writtenMessages: [WrittenMessage] {
    guard let chat = store.state.chat else { return [] }
    return chat.messages.map { WrittenMessage(timestamp: $0.timestamp, message: $0.message) }
  }

  /// Returns a message that the chat stores; `nil` if it does not store the message.
  func message(numbered number: Int) -> FoundMessage? {
    store.state.chat?.messages.last { $0.number == number }.map { displayed in
      let (message, platform) = (displayed.message, displayed.origin.platform)
      return FoundMessage(
        identifier: message.id, author: Person(id: message.userID, name: message.userName),
        platform: platform.isEmpty ? nil : platform)
    }
  }

  /// The highlights of the running chat; `nil` unless the chat is analysed.
  var highlights: AnalysisResult? {
    guard store.state.analysesChat == true, let chat = store.state.chat else { return nil }
    return AnalysisResult(highlights: chat.highlights?.entries ?? [], messages: chat.total)
  }
}
