import Glibc
import UnixSockets

/// A connected Unix socket that never blocks. Confined to one thread.
final class StreamSocket {
  /// The failure to connect, as an `errno`.
  struct ConnectError: Error { let code: Int32 }

  let descriptor: Int32
  private var received: [UInt8] = []

  init(path: String) throws(ConnectError) {
    descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw ConnectError(code: errno) }
    let code = Self.connect(descriptor, to: path)
    guard code == 0 else {
      close(descriptor)
      throw ConnectError(code: code)
    }
    _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
  }

  deinit { close(descriptor) }

  /// Connects to a path; returns the `errno` of a failure, or 0 on success.
  private static func connect(_ descriptor: Int32, to path: String) -> Int32 {
    guard let address = try? UnixAddress(path) else { return ENAMETOOLONG }
    return address.call(Glibc.connect, descriptor) == 0 ? 0 : errno
  }

  /// Writes as much of `bytes` as possible without blocking, starting at `start`, which it
  /// advances. Empties `bytes` once everything is written. Returns false if the peer has closed the
  /// connection.
  func write(_ bytes: inout [UInt8], from start: inout Int) -> Bool {
    while start < bytes.count {
      let count = bytes.withUnsafeBytes { buffer in
        send(
          descriptor, buffer.baseAddress?.advanced(by: start), buffer.count - start,
          Int32(MSG_NOSIGNAL))
      }
      if count < 0 {
        if errno == EINTR { continue }
        return errno == EAGAIN
      }
      start += count
    }
    bytes.removeAll(keepingCapacity: true)
    start = 0
    return true
  }

  /// Reads everything available and passes each complete line, without its line ending, to `body`.
  /// Returns false if the peer has closed the connection and everything it sent has been read.
  func readLines(_ body: (ArraySlice<UInt8>) -> Void) -> Bool {
    var piece = [UInt8](repeating: 0, count: 4096)
    var isOpen = true
    while true {
      let count = piece.withUnsafeMutableBytes { recv(descriptor, $0.baseAddress, $0.count, 0) }
      if count > 0 {
        received += piece[..<count]
        continue
      }
      if count < 0, errno == EINTR { continue }
      isOpen = count < 0 && errno == EAGAIN
      break
    }
    while let end = received.firstIndex(of: 0x0A) {
      body(received[..<end])
      received.removeSubrange(...end)
    }
    return isOpen
  }
}
