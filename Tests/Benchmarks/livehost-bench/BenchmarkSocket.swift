import Foundation
import UnixSockets

/// A connection to the ingest socket as a producer has it, or to the control socket. Blocking;
/// belongs to one thread.
final class BenchmarkSocket {
  private let descriptor: Int32

  init(path: String) throws {
    descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    guard try UnixAddress(path).call(connect, descriptor) == 0 else {
      throw POSIXError(.ECONNREFUSED)
    }
  }

  deinit { close(descriptor) }

  /// Writes all of `bytes`, 64 KiB at a time.
  func send(_ bytes: some ContiguousBytes) throws {
    try bytes.withUnsafeBytes { buffer in
      var sent = 0
      while sent < buffer.count {
        let count = Foundation.send(
          descriptor, buffer.baseAddress! + sent, min(65_536, buffer.count - sent),
          Int32(MSG_NOSIGNAL))
        guard count > 0 else { throw POSIXError(.EPIPE) }
        sent += count
      }
    }
  }

  /// Makes a write that waits fail, and later ones. May be called from any thread.
  func shutDown() { shutdown(descriptor, Int32(SHUT_RDWR)) }

  /// Returns once all that was sent is applied; in a room that records, once it is on disk.
  func sync() throws {
    try send(Array("{\"type\":\"sync\",\"token\":\"b\"}\n".utf8))
    var answer = [UInt8](repeating: 0, count: 4096)
    guard read(descriptor, &answer, answer.count) > 0 else { throw POSIXError(.EPIPE) }
  }

  /// Returns once a reply of the control socket has come; throws it away.
  func awaitReply() throws {
    var bytes = [UInt8](repeating: 0, count: 65_536)
    repeat {
      let count = read(descriptor, &bytes, bytes.count)
      guard count > 0 else { throw POSIXError(.EPIPE) }
      if bytes[count - 1] == 0 { return }
    } while true
  }
}
