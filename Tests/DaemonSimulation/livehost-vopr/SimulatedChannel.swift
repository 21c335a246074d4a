import NIOCore
import TestSupport

/// A client's connection to the daemon: the kernel's buffers for both directions, and the daemon's
/// end.
///
/// The client's calls happen between the steps of the machine.
final class SimulatedChannel: Channel, ChannelCore, @unchecked Sendable {
  /// The size of the kernel's buffer in each direction, in bytes.
  private static let bufferBytes = 64 << 10

  private let loop: SimulatedEventLoop
  private var random: SplitMix64
  private var arrived: [UInt8] = []
  private var written: [(buffer: ByteBuffer, promise: EventLoopPromise<Void>?)] = []
  private var flushed = 0
  private var unread: [UInt8] = []
  private var wantsRead = false
  private var hasClientClosed = false
  private var isClientGone = false
  private var hasToldEnd = false
  private var readsAlways = false
  private let closing: EventLoopPromise<Void>
  /// Called between steps when data can be read or the daemon has closed the connection.
  var onReadable: () -> Void = {}

  private(set) lazy var pipeline = ChannelPipeline(channel: self)
  private(set) var isActive = false
  private(set) var isWritable = true

  init(_ loop: SimulatedEventLoop, seed: UInt64) {
    self.loop = loop
    random = SplitMix64(seed: seed)
    closing = loop.makePromise()
  }

  /// Connects the client to the daemon's `handler`.
  ///
  /// - Parameter readsAlways: whether data is read automatically, as long as the handler forwards
  /// read events.
  func open(_ handler: sending some ChannelHandler & SendableMetatype, readsAlways: Bool = false) {
    self.readsAlways = readsAlways
    let handler = NIOLoopBoundBox.makeBoxSendingValue(handler, eventLoop: loop)
    loop.execute { [self] in
      isActive = true
      pipeline.syncOperations.fireChannelRegistered()
      try? pipeline.syncOperations.addHandler(handler.value)
      pipeline.syncOperations.fireChannelActive()
      if readsAlways { pipeline.syncOperations.read() }
    }
  }

  // MARK: The client's end

  var isClosed: Bool { hasToldEnd }

  /// Sends as many bytes as the buffer accepts, and returns their number.
  func send(_ bytes: ArraySlice<UInt8>) -> Int {
    guard !hasClientClosed else { return 0 }
    let part = bytes.prefix(Self.bufferBytes - arrived.count)
    arrived += part
    loop.execute { self.receive() }
    return part.count
  }

  /// Removes and returns at most `count` bytes that the daemon sent.
  func read(atMost count: Int) -> [UInt8] {
    let part = Array(unread.prefix(count))
    unread.removeFirst(part.count)
    loop.execute { self.transmit() }
    return part
  }

  /// Closes the sending direction. Bytes in flight still arrive.
  func closeSending() {
    hasClientClosed = true
    loop.execute { self.receive() }
  }

  /// Closes the connection immediately. Sent bytes still arrive at the daemon, but no answers
  /// arrive at the client.
  func abandon() {
    hasClientClosed = true
    isClientGone = true
    loop.execute { [self] in
      receive()
      transmit()
    }
  }

  // MARK: The daemon's end

  private func receive() {
    guard isActive, wantsRead, !arrived.isEmpty || hasClientClosed else { return }
    wantsRead = false
    if arrived.isEmpty {
      if isClientGone { return close0(error: ChannelError.eof, mode: .all, promise: nil) }
      return pipeline.syncOperations.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
    }
    for _ in 0...random.pick(0..<4) where !arrived.isEmpty {
      // A read may end anywhere, even in the middle of a line.
      let count = random.oneIn(3) ? random.pick(1..<arrived.count + 1) : arrived.count
      pipeline.syncOperations.fireChannelRead(NIOAny(ByteBuffer(bytes: arrived[..<count])))
      arrived.removeFirst(count)
    }
    pipeline.syncOperations.fireChannelReadComplete()
    if readsAlways { pipeline.syncOperations.read() }
  }

  private func transmit() {
    guard isActive else { return }
    if isClientGone, flushed > 0 {
      return close0(error: ChannelError.eof, mode: .all, promise: nil)
    }
    while flushed > 0, unread.count < Self.bufferBytes {
      let next = written.removeFirst()
      flushed -= 1
      unread += next.buffer.readableBytesView
      next.promise?.succeed(())
    }
    if !unread.isEmpty { Machine.current.after(0) { self.onReadable() } }
    let couldWrite = isWritable
    isWritable = written.count < 4
    if isWritable != couldWrite { pipeline.syncOperations.fireChannelWritabilityChanged() }
  }

  func read0() {
    wantsRead = true
    loop.execute { self.receive() }
  }

  func write0(_ data: NIOAny, promise: EventLoopPromise<Void>?) {
    guard isActive else {
      promise?.fail(ChannelError.ioOnClosedChannel)
      return
    }
    written.append((unwrapData(data, as: ByteBuffer.self), promise))
  }

  func flush0() {
    flushed = written.count
    transmit()
  }

  func close0(error: any Error, mode: CloseMode, promise: EventLoopPromise<Void>?) {
    guard isActive else {
      promise?.fail(ChannelError.alreadyClosed)
      return
    }
    isActive = false
    for entry in written { entry.promise?.fail(error) }
    written = []
    flushed = 0
    promise?.succeed(())
    pipeline.syncOperations.fireChannelInactive()
    pipeline.syncOperations.fireChannelUnregistered()
    loop.execute { [self] in
      removeHandlers(pipeline: pipeline)
      closing.succeed(())
    }
    Machine.current.after(0) { [self] in
      hasToldEnd = true
      onReadable()
    }
  }

  // MARK: Other requirements of Channel

  let allocator = ByteBufferAllocator()
  var eventLoop: any EventLoop { loop }
  var closeFuture: EventLoopFuture<Void> { closing.futureResult }
  var _channelCore: any ChannelCore { self }
  var localAddress: SocketAddress? { nil }
  var remoteAddress: SocketAddress? { nil }
  var parent: (any Channel)? { nil }

  func setOption<Option: ChannelOption>(
    _ option: Option, value: Option.Value
  ) -> EventLoopFuture<Void> { loop.makeSucceededVoidFuture() }

  func getOption<Option: ChannelOption>(_ option: Option) -> EventLoopFuture<Option.Value> {
    loop.makeFailedFuture(ChannelError.operationUnsupported)
  }

  func localAddress0() throws -> SocketAddress { throw ChannelError.operationUnsupported }
  func remoteAddress0() throws -> SocketAddress { throw ChannelError.operationUnsupported }
  func register0(promise: EventLoopPromise<Void>?) { promise?.succeed(()) }
  func registerAlreadyConfigured0(promise: EventLoopPromise<Void>?) { promise?.succeed(()) }
  func bind0(to: SocketAddress, promise: EventLoopPromise<Void>?) { promise?.succeed(()) }
  func connect0(to: SocketAddress, promise: EventLoopPromise<Void>?) { promise?.succeed(()) }
  func triggerUserOutboundEvent0(_ event: Any, promise: EventLoopPromise<Void>?) {
    promise?.succeed(())
  }
  func channelRead0(_ data: NIOAny) {}
  func errorCaught0(error: any Error) {}
}
