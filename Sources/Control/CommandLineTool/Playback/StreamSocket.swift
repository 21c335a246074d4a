import Glibc

/// A connected unix socket that never blocks. Used by one thread.
final class StreamSocket {
  /// `code` is the `errno`.
  struct ConnectError: Error { let code: Int32 }

  let descriptor: Int32
  private var received: [UInt8] = []

  init(path: String) throws(ConnectError) {
    descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw ConnectError(code: errno) }
    guard UnixAddress.withAddress(path, { connect(descriptor, $0, $1) }) == 0 else {
      let code = errno
      close(descriptor)
      throw ConnectError(code: code)
    }
    _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
  }

  deinit { close(descriptor) }

  /// Writes as much of `bytes` as possible without blocking, starting at `start`, which advances. Once
  /// everything is written, `bytes` is emptied.
  ///
  /// - Returns: false if the peer is gone.
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

  /// Reads everything available, and passes on whole lines without their line endings.
  ///
  /// - Returns: false if the peer is gone and everything it sent has been read.
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

/// Addresses of unix sockets.
enum UnixAddress {
  /// Calls with the address; gives -1 and sets `errno` if the path is too long.
  static func withAddress(
    _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
  ) -> Int32 {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    // One byte stays zero and ends the path.
    guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else {
      errno = ENAMETOOLONG
      return -1
    }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    return withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
  }
}
