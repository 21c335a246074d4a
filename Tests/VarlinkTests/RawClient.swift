import Glibc

/// A client that writes any bytes, to see what a server makes of them. Blocks its thread: the
/// server under test runs on event loops of its own.
final class RawClient {
  private let socket: CInt
  private var received: [UInt8] = []
  private var isOpen = true

  struct NotConnected: Error { let code: CInt }

  init(path: String) throws {
    socket = Glibc.socket(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0)
    let result = withSocketAddress(path) { [socket] in connect(socket, $0, $1) }
    if result != 0 { throw NotConnected(code: errno) }
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

func withSocketAddress(
  _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> CInt
) -> CInt {
  var address = sockaddr_un()
  address.sun_family = sa_family_t(AF_UNIX)
  withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
  return withUnsafePointer(to: &address) {
    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
      body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
    }
  }
}

/// A bound socket that listens, for tests that play the server or the service manager.
func makeListeningSocket(_ path: String) -> CInt {
  let listener = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0)
  _ = withSocketAddress(path) { bind(listener, $0, $1) }
  listen(listener, 8)
  return listener
}
