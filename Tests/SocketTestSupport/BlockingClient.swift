import Glibc
import UnixSockets

/// A socket call that failed.
package struct SocketFailure: Error, CustomStringConvertible {
  package let call: String
  package let code = errno
  package var description: String { "\(call): \(String(cString: strerror(code)))" }

  package init(call: String) { self.call = call }
}

/// A client of a Unix stream socket: sends any bytes, and reads only when a test asks it to.
///
/// Every call blocks the thread. A read fails after a minute.
package final class BlockingClient {
  private var descriptor: Int32
  private var received: [UInt8] = []

  package init(_ path: String) throws {
    descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw SocketFailure(call: "socket") }
    guard try UnixAddress(path).call(connect, descriptor) == 0 else {
      let failure = SocketFailure(call: "connect \(path)")
      close()
      throw failure
    }
    setReceiveTimeout(of: descriptor, seconds: 60)
  }

  deinit { close() }

  /// Sends bytes. Returns `false` if the connection ends before everything is sent.
  @discardableResult package func send(_ bytes: [UInt8]) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes {
        Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { return false }
      rest = rest.dropFirst(count)
    }
    return true
  }

  @discardableResult package func send(_ text: String) -> Bool { send(Array(text.utf8)) }

  /// Waits for at least one more byte. Returns `false` at the end of the connection.
  @discardableResult package func receiveSome() -> Bool {
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    let count = recv(descriptor, &chunk, chunk.count, 0)
    received += chunk[..<max(0, count)]
    return count > 0
  }

  /// Returns the next line without its end, or nil at the end of the connection.
  package func readLine() -> String? { read(until: 0x0A) }

  /// Returns the next Varlink message, or nil at the end of the connection.
  package func receive() -> String? { read(until: 0) }

  private func read(until delimiter: UInt8) -> String? {
    var scanned = 0
    while true {
      if let end = received[scanned...].firstIndex(of: delimiter) {
        defer { received.removeSubrange(...end) }
        return String(decoding: received[..<end], as: UTF8.self)
      }
      scanned = received.count
      if !receiveSome() { return nil }
    }
  }

  /// Reads until the end of the connection.
  package func readToEnd() -> String {
    while receiveSome() {}
    defer { received = [] }
    return String(decoding: received, as: UTF8.self)
  }

  /// Closes the sending side. Replies can still be read.
  package func finish() { shutdown(descriptor, Int32(SHUT_WR)) }

  package func close() {
    if descriptor >= 0 { Glibc.close(descriptor) }
    descriptor = -1
  }
}

/// Returns the descriptor of a socket that listens on a path. The caller closes the descriptor.
package func makeListeningSocket(_ path: String) throws -> Int32 {
  let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
  guard try UnixAddress(path).call(bind, listener) == 0, listen(listener, 8) == 0 else {
    throw SocketFailure(call: "listen at \(path)")
  }
  return listener
}

func setReceiveTimeout(of descriptor: Int32, seconds: Int) {
  var timeout = timeval(tv_sec: seconds, tv_usec: 0)
  setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
}
