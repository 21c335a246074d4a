import Glibc

/// A password or token that is hidden when printed.
package struct Secret: Equatable, Sendable, CustomStringConvertible, CustomDebugStringConvertible,
  CustomReflectable
{
  private let text: String

  package init(_ text: String) { self.text = text }

  package var description: String { "(secret)" }
  package var debugDescription: String { description }
  package var customMirror: Mirror { Mirror(self, children: []) }

  /// Calls `body` with the secret, which may be sent only to the peer that it is meant for.
  package func reveal<Result>(_ body: (String) -> Result) -> Result { body(text) }

  /// Reads the first line of a file. If `hasSpaces` is true, the line may contain any characters,
  /// as in a password that a person chose; otherwise only those of a token.
  package static func read(
    file path: String, hasSpaces: Bool = false
  ) throws(SourceError) -> Secret {
    func unreadable(_ reason: String) -> SourceError {
      .unreadableSecret(path: path, reason: reason)
    }
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw unreadable(SystemText.error(errno)) }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = bytes.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
    guard count >= 0 else { throw unreadable(SystemText.error(errno)) }
    let line = bytes[..<count].prefix { $0 != 0x0A && $0 != 0x0D }
    guard !line.isEmpty else { throw unreadable("the file's first line is empty") }
    guard hasSpaces || line.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      throw unreadable("the file's first line contains characters that are invalid in a token")
    }
    return Secret(String(decoding: line, as: UTF8.self))
  }
}
