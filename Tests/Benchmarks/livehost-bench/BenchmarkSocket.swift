import Foundation
import UnixSockets

/// A blocking connection to the ingest socket or the control socket. Must be used by one thread.
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

  /// Makes a blocked write and all later writes fail. May be called from any thread.
  func shutDown() { shutdown(descriptor, Int32(SHUT_RDWR)) }

  /// Waits until all sent events are applied and, in a room that records, are on disk.
  func sync() throws {
    try send(Array("{\"type\":\"sync\",\"token\":\"b\"}\n".utf8))
    var answer = [UInt8](repeating: 0, count: 4096)
    guard read(descriptor, &answer, answer.count) > 0 else { throw POSIXError(.EPIPE) }
  }

  /// Waits for a reply of the control socket and discards it.
  func awaitReply() throws {
    var bytes = [UInt8](repeating: 0, count: 65_536)
    repeat {
      let count = read(descriptor, &bytes, bytes.count)
      guard count > 0 else { throw POSIXError(.EPIPE) }
      if bytes[count - 1] == 0 { return }
    } while true
  }
}
