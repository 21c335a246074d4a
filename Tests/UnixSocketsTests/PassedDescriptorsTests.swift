import Dispatch
import Foundation
import Glibc
import NIOCore
import NIOPosix
import TestSupport
import Testing
import UnixSockets

/// Tests with clients that pass a socket whose close blocks for two minutes, while one event loop
/// also serves another client.
@Suite(.serialized, .timeLimit(.minutes(1))) struct PassedDescriptorsTests {
  private let directory = TemporaryDirectory()

  private struct Failure: Error {
    let call: String
    let code = errno
    init(_ call: String) { self.call = call }
  }

  /// Echoes its input until the end of the input.
  private final class Echo: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      context.writeAndFlush(data, promise: nil)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
      if case .inputClosed? = event as? ChannelEvent { context.close(promise: nil) }
    }
  }

  /// A connection whose other end reads nothing, so that closing it blocks.
  private struct LingeringSocket {
    let socket: Int32
    let rest: [Int32]

    init() throws {
      let listener = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
      var size = socklen_t(MemoryLayout.size(ofValue: address))
      let client = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      let code = try withUnsafeMutablePointer(to: &address) { pointer -> Int32 in
        try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
          guard bind(listener, address, size) == 0, listen(listener, 1) == 0,
            getsockname(listener, address, &size) == 0
          else { throw Failure("bind") }
          return connect(client, address, size)
        }
      }
      guard code == 0 else { throw Failure("connect") }
      socket = client
      rest = [listener, accept(listener, nil, nil)]
      let bytes = [UInt8](repeating: 0, count: 1 << 16)
      while send(socket, bytes, bytes.count, Int32(MSG_DONTWAIT)) > 0 {}
    }

    /// Passes the socket over a connection, and closes the copy of this process. Returns `false` if
    /// the kernel refuses the descriptor.
    func pass(over connection: Int32, outOfBand: Bool = false) -> Bool {
      setLinger(120)
      let isPassed = PassedDescriptorsTests.pass(
        socket, over: connection, flags: outOfBand ? Int32(MSG_OOB) : 0)
      // If the kernel refused the socket, closing the only copy would block this process.
      if !isPassed { setLinger(nil) }
      close(socket)
      return isPassed
    }

    private func setLinger(_ seconds: Int32?) {
      var option = linger(l_onoff: seconds == nil ? 0 : 1, l_linger: seconds ?? 0)
      setsockopt(
        socket, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout.size(ofValue: option)))
    }
  }

  private func connection(_ path: String) throws -> Int32 {
    let client = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    guard try UnixAddress(path).call(Glibc.connect, client) == 0 else { throw Failure("connect") }
    // With this time limit, a defect makes the test fail after 30 s.
    var limit = timeval(tv_sec: 30, tv_usec: 0)
    setsockopt(
      client, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout.size(ofValue: limit)))
    return client
  }

  /// Sends a byte and a descriptor. Returns `false` if the kernel refuses the descriptor.
  private static func pass(_ descriptor: Int32, over socket: Int32, flags: Int32) -> Bool {
    var byte: UInt8 = 120
    // `struct cmsghdr` of cmsg(3): the length, the level, the type, and the descriptor.
    var control: (length: Int, level: Int32, type: Int32, descriptor: Int32, padding: Int32) =
      (20, SOL_SOCKET, 1, descriptor, 0)
    return withUnsafeMutableBytes(of: &control) { control in
      withUnsafeMutableBytes(of: &byte) { byte in
        var vector = iovec(iov_base: byte.baseAddress, iov_len: 1)
        return withUnsafeMutablePointer(to: &vector) { vector in
          var header = msghdr()
          header.msg_iov = vector
          header.msg_iovlen = 1
          header.msg_control = control.baseAddress
          header.msg_controllen = control.count
          return sendmsg(socket, &header, Int32(MSG_NOSIGNAL) | flags) == 1
        }
      }
    }
  }

  /// Runs a server during `body`.
  ///
  /// - Parameter refuses: Whether to ask the kernel to refuse passed descriptors.
  private func serve(
    refuses: Bool, reads: Bool,
    _ body: (String, any EventLoop, @escaping @Sendable () async -> Void) async throws -> Void
  ) async throws {
    let path = directory.path + "/socket"
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let descriptor = try #require(try ListeningSocket.bind(path: path).removeDescriptor())
    let (accepted, accept) = AsyncStream.makeStream(of: (any Channel).self)
    let bootstrap = ServerBootstrap(group: group)
      .childChannelOption(.autoRead, value: reads)
      .childChannelOption(.allowRemoteHalfClosure, value: true)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try PassedDescriptors.guardAgainst(on: channel)
          accept.yield(channel)
          try channel.pipeline.syncOperations.addHandler(Echo())
        }
      }
    let server =
      try await
      (refuses ? bootstrap.accept(on: descriptor) : bootstrap.withBoundSocket(descriptor).get())
    try await body(path, group.next()) {
      for await channel in accepted { return channel.close(promise: nil) }
    }
    try await server.close()
    try await group.shutdownGracefully()
  }

  /// Returns the answer to a byte: 1, or 0 at the end of the connection, or -1 if there is no
  /// answer.
  private func answer(to socket: Int32) -> Int {
    var byte: UInt8 = 120
    guard send(socket, &byte, 1, Int32(MSG_NOSIGNAL)) == 1 else { return 0 }
    let count = recv(socket, &byte, 1, 0)
    return count < 0 && errno == ECONNRESET ? 0 : count
  }

  private enum Form: CaseIterable {
    case afterOthers, first, outOfBand
  }

  @Test(arguments: [true, false], Form.allCases)
  private func `other clients are served while a descriptor is read`(refuses: Bool, form: Form)
    async throws
  {
    try await serve(refuses: refuses, reads: true) { path, loop, _ in
      let (hostile, other) = (try connection(path), try connection(path))
      if form == .afterOthers { #expect(answer(to: hostile) == 1) }
      let lingering = try LingeringSocket()
      // Nothing is read before the copy of this process is closed, so that the event loop has the
      // last reference.
      let (isHeld, isFree) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      loop.execute {
        isHeld.signal()
        isFree.wait()
      }
      isHeld.wait()
      let isPassed = lingering.pass(over: hostile, outOfBand: form == .outOfBand)
      isFree.signal()
      // The server reads no further input of a connection after a descriptor.
      if isPassed { #expect(answer(to: hostile) == 0) }
      #expect(answer(to: other) == 1)
      for descriptor in [hostile, other] + lingering.rest { close(descriptor) }
    }
  }

  @Test(arguments: [true, false])
  func `other clients are served while a descriptor is closed`(refuses: Bool) async throws {
    try await serve(refuses: refuses, reads: false) { path, _, closeNext in
      let hostile = try connection(path)
      let lingering = try LingeringSocket()
      _ = lingering.pass(over: hostile)
      await closeNext()
      // The event loop continues and accepts connections.
      let other = try connection(path)
      await closeNext()
      var byte: UInt8 = 0
      #expect(recv(other, &byte, 1, 0) == 0)
      close(other)
      for descriptor in [hostile] + lingering.rest { close(descriptor) }
    }
  }

  @Test func `data without descriptors arrives unchanged, however it is split`()
    async throws
  {
    try await serve(refuses: false, reads: true) { path, _, _ in
      let client = try connection(path)
      var sent: [UInt8] = []
      for count in [1, 2, 3, 1_000, 65_535, 65_536, 65_537, 200_000, 1] {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ count) }
        sent += bytes
        var received: [UInt8] = []
        var written = 0
        while received.count < count {
          if written < count {
            let part = bytes[written..<min(written + 50_000, count)]
            written += part.withUnsafeBytes { send(client, $0.baseAddress, $0.count, 0) }
          }
          var chunk = [UInt8](repeating: 0, count: 1 << 16)
          let got = recv(client, &chunk, chunk.count, written < count ? Int32(MSG_DONTWAIT) : 0)
          if got > 0 { received += chunk[..<got] }
          try #require(got != 0)
        }
        #expect(received == bytes)
      }
      close(client)
    }
  }
}
