import ControlInterface
import FuzzSupport
import NIOCore
import Varlink
import VarlinkDescription

/// Reads Varlink messages that arrive in pieces.
final class VarlinkParser: Parser {
  private static let longestMessage = 2048

  private let control: InterfaceDescription

  init() throws { control = try InterfaceDescription(parsing: ControlInterface.definition) }

  /// Reads messages. The first byte is the length of the pieces.
  func read(_ bytes: UnsafeBufferPointer<UInt8>) {
    guard let first = bytes.first else { return }
    let bytes = ByteBuffer(bytes: UnsafeBufferPointer(rebasing: bytes.dropFirst()))
    let messages = split(bytes, into: Int(first) + 1)
    check("a message does not depend on the pieces", messages == split(bytes, into: .max))
    for message in messages {
      readCall(message)
      _ = try? ReplyMessage(parsing: message)
    }
  }

  private func split(_ bytes: ByteBuffer, into pieceLength: Int) -> [ByteBuffer] {
    var splitter = MessageSplitter(maximumBytes: Self.longestMessage)
    var rest = bytes
    var messages: [ByteBuffer] = []
    while var piece = rest.readSlice(length: min(pieceLength, rest.readableBytes)),
      piece.readableBytes > 0
    {
      splitter.append(&piece)
      do {
        while let message = try splitter.next() { messages.append(message) }
      } catch {
        return messages
      }
      splitter.compact()
    }
    return messages
  }

  private func readCall(_ message: ByteBuffer) {
    guard let call = try? CallMessage(parsing: message) else { return }
    var written = call.encoded()
    check(
      "a written call ends with its only NUL",
      written.readableBytesView.firstIndex(of: 0) == written.writerIndex - 1)
    // A control character is written as six bytes.
    check(
      "the length of a written call is bounded by the length of the original call",
      written.readableBytes <= 6 * message.readableBytes + 64)
    written.moveWriterIndex(to: written.writerIndex - 1)
    check(
      "a call equals itself after writing and reading", call == (try? CallMessage(parsing: written))
    )
    guard let name = call.method.split(separator: ".").last,
      case .method(let input, _)? = control.member(String(name))?.kind
    else { return }
    _ = control.mismatch(of: call.parameters, against: input)
  }
}
