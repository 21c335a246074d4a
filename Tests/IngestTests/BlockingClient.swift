import Glibc
import UnixSockets

/// A client of a Unix stream socket, for tests: every call blocks.
final class BlockingClient: Sendable {
  let descriptor: Int32

  /// `nil` if there is no listener.
  init?(_ path: String) {
    descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard (try? UnixAddress(path))?.call(connect, descriptor) == 0 else { return nil }
  }

  deinit { close(descriptor) }

  func send(_ bytes: [UInt8]) {
    var sent = 0
    while sent < bytes.count {
      let count = bytes[sent...].withUnsafeBytes {
        Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { return }
      sent += count
    }
  }

  func send(_ text: String) { send(Array(text.utf8)) }

  /// Closes the sending side.
  func finish() { shutdown(descriptor, Int32(SHUT_WR)) }

  /// Reads up to the next LF, which is left out, or to the end.
  func readLine() -> String {
    var line: [UInt8] = []
    var byte: UInt8 = 0
    while read(descriptor, &byte, 1) == 1, byte != 0x0A { line.append(byte) }
    return String(decoding: line, as: UTF8.self)
  }

  /// Reads until the other side has closed.
  func readToEnd() -> String {
    var text = ""
    while true {
      let line = readLine()
      if line.isEmpty { return text }
      text += line + "\n"
    }
  }
}

/// A directory for the files of one test.
final class TemporaryDirectory: Sendable {
  let path: String

  init() {
    var template = Array("/tmp/ingest-tests-XXXXXX".utf8CString)
    path = mkdtemp(&template).map { String(cString: $0) } ?? ""
  }

  deinit {
    unlink(path + "/ingest")
    rmdir(path)
  }

  var socket: String { path + "/ingest" }
}
