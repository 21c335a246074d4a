import Dispatch
import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing
import UnixSockets

/// Tests binding with an existing file at the path, and the file that is left afterwards.
struct ListeningSocketTests {
  private let home = TemporaryDirectory()
  private var directory: String { home.path }
  private var path: String { directory + "/socket" }

  @Test func `a socket in use is not replaced`() throws {
    let first = try ListeningSocket.bind(path: path)
    #expect(throws: ListeningSocketError.socketInUse(path: path)) {
      _ = try ListeningSocket.bind(path: path)
    }
    #expect(connects())
    withExtendedLifetime(first) {}
  }

  @Test func `a stale socket file is replaced, with the requested mode`() throws {
    let dead = try #require(try ListeningSocket.bind(path: path).removeDescriptor())
    close(dead)
    #expect(access(path, F_OK) == 0)
    let socket = try ListeningSocket.bind(path: path, mode: 0o600)
    var status = stat()
    #expect(stat(path, &status) == 0)
    #expect(status.st_mode & 0o777 == 0o600)
    _ = consume socket
  }

  /// Repeatedly replaces the file at a path by a link, as often as it can.
  private final class Exchanger: Sendable {
    private let isOver = Atomic(false)
    private let ended = DispatchSemaphore(value: 0)

    init(_ path: String, target: String) {
      Thread.detachNewThread { [self] in
        let link = path + ".link"
        while !isOver.load(ordering: .relaxed) {
          symlink(target, link)
          rename(link, path)
        }
        unlink(link)
        ended.signal()
      }
    }

    func stop() {
      isOver.store(true, ordering: .relaxed)
      ended.wait()
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func `the mode of a link's target stays if the link replaces the socket during a bind`() {
    let target = directory + "/target"
    close(creat(target, 0o600))
    let exchanger = Exchanger(path, target: target)
    defer { exchanger.stop() }
    for _ in 0..<5_000 {
      unlink(path)
      // The bind may succeed, or find one link or the other.
      _ = try? ListeningSocket.bind(path: path, mode: 0o666)
      var status = stat()
      let isUntouched = stat(target, &status) == 0 && status.st_mode & 0o777 == 0o600
      #expect(isUntouched)
      if !isUntouched { return }
    }
  }

  @Test func `the mode of a link's target is not changed`() {
    let target = directory + "/target"
    close(creat(target, 0o600))
    symlink(target, path)
    #expect(throws: ListeningSocketError.exchanged(path: path)) {
      try ListeningSocket.setMode(0o666, ofSocketAt: path)
    }
    var status = stat()
    #expect(stat(target, &status) == 0 && status.st_mode & 0o777 == 0o600)
  }

  @Test func `obstacles at the path of a socket are reported`() throws {
    let file = creat(path, 0o600)
    close(file)
    #expect(throws: ListeningSocketError.notASocket(path: path)) {
      _ = try ListeningSocket.bind(path: path)
    }
    #expect(access(path, F_OK) == 0)
    let missing = directory + "/no/socket"
    #expect(throws: ListeningSocketError.directoryMissing(path: missing)) {
      _ = try ListeningSocket.bind(path: missing)
    }
    let long = directory + "/" + String(repeating: "x", count: 108)
    #expect(throws: ListeningSocketError.pathTooLong(path: long, maximum: 107)) {
      _ = try ListeningSocket.bind(path: long)
    }
    #expect(throws: ListeningSocketError.notListening(descriptor: 0)) {
      _ = try ListeningSocket.adopt(descriptor: 0)
    }
  }

  @Test func `a socket serves once, and its file is removed unless another file has replaced it`()
    throws
  {
    let socket = try ListeningSocket.bind(path: path)
    let descriptor = try #require(socket.removeDescriptor())
    #expect(socket.removeDescriptor() == nil)
    close(descriptor)
    let file = try #require(socket.file)
    let next = try ListeningSocket.bind(path: path)
    file.remove()
    #expect(access(path, F_OK) == 0, "another socket replaced the file")
    next.file?.remove()
    #expect(access(path, F_OK) != 0)
  }

  @Test func `a socket that never listened leaves no file`() throws {
    do { _ = try ListeningSocket.bind(path: path) }
    #expect(access(path, F_OK) != 0)
  }

  @Test func `an inherited socket has no file to remove`() throws {
    let bound = try ListeningSocket.bind(path: path)
    let descriptor = try #require(bound.removeDescriptor())
    let adopted = try ListeningSocket.adopt(descriptor: descriptor)
    #expect(adopted.file == nil)
    #expect(connects())
  }

  private func connects() -> Bool {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    return (try? UnixAddress(path))?.call(connect, descriptor) == 0
  }
}
