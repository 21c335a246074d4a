import Glibc
import UnixSockets

/// The socket on which a service manager receives what a daemon reports.
package final class NotifySocket {
  package let path: String
  /// The lines of all received datagrams.
  package private(set) var received: [String] = []
  private let descriptor: Int32

  package init(path: String) throws {
    self.path = path
    descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0, try UnixAddress(path).call(bind, descriptor) == 0 else {
      throw SocketFailure(call: "bind \(path)")
    }
  }

  deinit { close(descriptor) }

  /// Returns the lines of the next datagram, or nil if none arrives in time.
  ///
  /// - Parameter seconds: the time to wait. With 0, only a datagram that was already sent is read.
  package func next(seconds: Int = 60) -> [String]? {
    setReceiveTimeout(of: descriptor, seconds: seconds)
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = recv(descriptor, &buffer, buffer.count, seconds == 0 ? Int32(MSG_DONTWAIT) : 0)
    guard count > 0 else { return nil }
    let lines = String(decoding: buffer[..<count], as: UTF8.self).split(separator: "\n")
    received += lines.map(String.init)
    return lines.map(String.init)
  }

  /// Waits for a line. Throws ``SocketFailure`` if no datagram arrives for a minute.
  package func wait(for line: String) throws {
    while true {
      guard let lines = next() else { throw SocketFailure(call: "waiting for \(line)") }
      if lines.contains(line) { return }
    }
  }
}
