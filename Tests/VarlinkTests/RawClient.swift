import Glibc
import UnixSockets

/// A client that writes any bytes, to see what a server makes of them. Blocks its thread: the
/// server under test runs on event loops of its own.
final class RawClient {
  private let socket: CInt
  private var received: [UInt8] = []
  private var isOpen = true

  struct NotConnected: Error { let code: CInt }

  init(path: String) throws {
    socket = Glibc.socket(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0)
    if try UnixAddress(path).call(connect, socket) != 0 { throw NotConnected(code: errno) }
  }

  deinit { close() }

  /// Writes a text; `\0` in it ends a message.
  func send(_ text: String) {
    var bytes = Array(text.utf8)[...]
    while !bytes.isEmpty {
      let count = bytes.withUnsafeBytes {
        Glibc.send(socket, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL))
      }
      if count <= 0 { return }
      bytes = bytes.dropFirst(count)
    }
  }

  /// Waits for at least one byte more.
  @discardableResult
  func receiveSome() -> Bool {
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    let count = recv(socket, &chunk, chunk.count, 0)
    if count <= 0 { return false }
    received.append(contentsOf: chunk[..<count])
    return true
  }

  /// The next message, nil if the server has closed the connection.
  func receive() -> String? {
    var scanned = 0
    while true {
      if let end = received[scanned...].firstIndex(of: 0) {
        defer { received.removeSubrange(...end) }
        return String(decoding: received[..<end], as: UTF8.self)
      }
      scanned = received.count
      if !receiveSome() { return nil }
    }
  }

  /// Ends the output; replies can still be read.
  func finish() { shutdown(socket, CInt(SHUT_WR)) }

  func close() {
    if isOpen { Glibc.close(socket) }
    isOpen = false
  }
}

/// A bound socket that listens, for tests that play the server or the service manager.
func makeListeningSocket(_ path: String) -> CInt {
  let listener = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0)
  _ = try? UnixAddress(path).call(bind, listener)
  listen(listener, 8)
  return listener
}
