import Glibc
import UnixSockets

/// The receiving end of a daemon's `NOTIFY_SOCKET` (sd_notify(3)): a datagram socket with a path.
final class NotifySocket: Sendable {
  let path: String
  let descriptor: Int32

  init(path: String) throws(Failure) {
    self.path = path
    let kind =
      Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
    descriptor = socket(AF_UNIX, kind, 0)
    let address = try? UnixAddress(path)
    guard descriptor >= 0, let address, address.call(bind, descriptor) == 0 else {
      let code = address == nil ? ENAMETOOLONG : errno
      if descriptor >= 0 { close(descriptor) }
      throw Failure(.failed, "cannot create \(path): \(String(cString: strerror(code)))")
    }
  }

  deinit { close(descriptor) }

  /// Reads all pending notifications. Returns whether one of the received datagrams reports that
  /// the service is ready.
  func receiveReady() -> Bool {
    var buffer = [UInt8](repeating: 0, count: 4096)
    var isReady = false
    while true {
      let count = buffer.withUnsafeMutableBytes { recv(descriptor, $0.baseAddress, $0.count, 0) }
      guard count >= 0 else { return isReady }
      let lines = String(decoding: buffer[..<count], as: UTF8.self).split(separator: "\n")
      if lines.contains("READY=1") { isReady = true }
    }
  }
}
