import Foundation
import UnixSockets

struct SocketFailure: Error, CustomStringConvertible {
  let call: String
  let code = errno
  var description: String { "\(call): \(String(cString: strerror(code)))" }
}

/// What a daemon reports to its service manager: a datagram socket. A wait fails after a minute.
final class NotifySocket {
  let path: String
  private let descriptor: Int32
  private(set) var received: [String] = []

  init(path: String) throws {
    self.path = path
    descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
    guard descriptor >= 0 else { throw SocketFailure(call: "socket") }
    guard try UnixAddress(path).call(bind, descriptor) == 0 else {
      throw SocketFailure(call: "bind")
    }
  }

  deinit { close(descriptor) }

  /// The lines of the next datagram; `nil` if none comes in time.
  func next(seconds: Int = 60) -> [String]? {
    var timeout = timeval(tv_sec: seconds, tv_usec: 0)
    setsockopt(
      descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = recv(descriptor, &buffer, buffer.count, 0)
    guard count > 0 else { return nil }
    let lines = String(decoding: buffer[..<count], as: UTF8.self).split(separator: "\n")
      .map(String.init)
    received += lines
    return lines
  }

  /// Takes what is there without waiting.
  func drain() {
    var buffer = [UInt8](repeating: 0, count: 4096)
    while recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT)) > 0 {}
  }

  func wait(for line: String) throws {
    while true {
      guard let lines = next() else { throw SocketFailure(call: "waiting for \(line)") }
      if lines.contains(line) { return }
    }
  }
}

/// A connection to a stream socket, read and written by hand.
final class RawConnection {
  private let descriptor: Int32
  private var buffer: [UInt8] = []

  init(_ path: String) throws {
    descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    guard descriptor >= 0 else { throw SocketFailure(call: "socket") }
    guard try UnixAddress(path).call(connect, descriptor) == 0 else {
      let failure = SocketFailure(call: "connect \(path)")
      close(descriptor)
      throw failure
    }
    var timeout = timeval(tv_sec: 60, tv_usec: 0)
    setsockopt(
      descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
  }

  deinit { close(descriptor) }

  func write(_ text: String) throws { try write(Array(text.utf8)) }

  func write(_ bytes: [UInt8]) throws {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes {
        send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { throw SocketFailure(call: "send") }
      rest = rest.dropFirst(count)
    }
  }

  /// The next line without its end; `nil` at the end of the stream.
  func readLine() -> String? { read(until: 0x0A) }

  /// What comes before the next byte of that value; `nil` at the end of the stream.
  func read(until delimiter: UInt8) -> String? {
    while true {
      if let end = buffer.firstIndex(of: delimiter) {
        defer { buffer.removeSubrange(...end) }
        return String(decoding: buffer[..<end], as: UTF8.self)
      }
      var chunk = [UInt8](repeating: 0, count: 65536)
      let count = recv(descriptor, &chunk, chunk.count, 0)
      guard count > 0 else { return nil }
      buffer += chunk[..<count]
    }
  }

  /// Sends a sync and returns what it was answered with.
  func sync(_ token: String = "t") throws -> [String: Any]? {
    try write("{\"type\":\"sync\",\"token\":\"\(token)\"}\n")
    guard let line = readLine() else { return nil }
    return try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
  }
}
