package import NIOCore

/// One client: takes its calls in order, runs them one at a time, and writes the replies.
///
/// Confined to the connection's event loop. While a call runs, the bytes after it wait unparsed;
/// once they contain a complete message, reading stops, so a client that pipelines endlessly is
/// held back by its own socket buffer.
package final class ServerConnection: ChannelDuplexHandler {
  package typealias InboundIn = ByteBuffer
  package typealias OutboundIn = Never
  package typealias OutboundOut = ByteBuffer

  private struct Running {
    let mode: CallMessage.Mode
    let task: Task<Void, Never>
  }

  private let dispatcher: Dispatcher
  private let gate: OutputGate
  private let executor: LoopExecutor
  private let drainTimeout: TimeAmount
  private var splitter: MessageSplitter
  private var context: ChannelHandlerContext?
  private var peer: Peer?
  private var running: Running?
  /// The channel asked to read while a complete message was waiting.
  private var heldRead = false
  /// The client sends no more; calls it has sent are still answered.
  private var inputEnded = false
  /// The client no longer reads replies; one-way calls that were sent earlier still run.
  private var disconnected = false
  /// No further call begins.
  private var isStopping = false
  /// Ends the connection if stopping takes too long.
  private var drainDeadline: Scheduled<Void>?
  /// Called once the channel is closed and the last call has ended.
  private var onEnd: (() -> Void)?

  package init(dispatcher: Dispatcher, limits: VarlinkServer.Limits, eventLoop: any EventLoop) {
    self.dispatcher = dispatcher
    gate = OutputGate(limit: limits.outputBytes)
    executor = LoopExecutor(eventLoop)
    drainTimeout = limits.drainTimeout
    splitter = MessageSplitter(maximumBytes: limits.messageBytes)
  }

  package func channelActive(context: ChannelHandlerContext) {
    self.context = context
    peer =
      try? context.pipeline.syncOperations.withUnsafeTransportIfAvailable(
        of: NIOBSDSocket.Handle.self
      ) { socket -> Peer? in Peer(socket: socket) } ?? nil
    context.fireChannelActive()
    // Told to before there was anything to close.
    if isStopping { context.close(promise: nil) }
  }

  package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    var bytes = unwrapInboundIn(data)
    splitter.append(&bytes)
    startNext()
  }

  package func read(context: ChannelHandlerContext) {
    if splitter.hasNext() {
      heldRead = true
    } else {
      context.read()
    }
  }

  package func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case .inputClosed? = event as? ChannelEvent {
      inputEnded = true
      startNext()
    }
    context.fireUserInboundEventTriggered(event)
  }

  package func channelInactive(context: ChannelHandlerContext) {
    disconnected = true
    gate.close()
    if let running, running.mode != .oneway { running.task.cancel() }
    startNext()
    self.context = nil
    endIfDone()
    context.fireChannelInactive()
  }

  package func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // A reset or a failed write: nothing more can be sent to this client.
    context.close(promise: nil)
  }

  /// Lets the current call finish, unless it is a monitor, and the client read, then closes. After
  /// ``VarlinkServer/Limits/drainTimeout`` it waits for neither.
  package func stop() {
    isStopping = true
    if let running {
      if running.mode == .more { running.task.cancel() }
    } else {
      closeAfterWriting()
    }
    guard drainDeadline == nil, !hasEnded else { return }
    drainDeadline = executor.eventLoop.assumeIsolated().scheduleTask(in: drainTimeout) {
      [self] in stopImmediately()
    }
  }

  /// Cancels the current call, even a one-way call, and closes.
  func stopImmediately() {
    isStopping = true
    running?.task.cancel()
    context?.close(promise: nil)
  }

  /// Must be called when the channel is closed. Calls `body` once the last call has ended as well.
  func channelClosed(_ body: @escaping () -> Void) {
    disconnected = true
    onEnd = body
    endIfDone()
  }

  private var hasEnded: Bool { disconnected && running == nil }

  private func endIfDone() {
    guard hasEnded else { return }
    drainDeadline?.cancel()
    onEnd?()
    onEnd = nil
  }

  private func startNext() {
    while running == nil, !isStopping, disconnected || gate.isOpen {
      guard let message = nextCall() else { break }
      start(message)
    }
    if inputEnded, running == nil, !splitter.hasNext() { closeAfterWriting() }
    if heldRead, !splitter.hasNext() {
      heldRead = false
      context?.read()
    }
  }

  /// The next call to run. A malformed message ends the connection, and so do its followers.
  private func nextCall() -> CallMessage? {
    do {
      while let bytes = try splitter.next() {
        let message = try CallMessage(parsing: bytes)
        if !disconnected || message.mode == .oneway { return message }
      }
    } catch {
      isStopping = true
      closeAfterWriting()
    }
    return nil
  }

  private func start(_ message: CallMessage) {
    let connection = NIOLoopBound(self, eventLoop: executor.eventLoop)
    let replies = ReplyStream(wantsMore: message.mode == .more, gate: gate) {
      [eventLoop = executor.eventLoop] parameters in
      eventLoop.execute { connection.value.writeContinued(parameters) }
    }
    let task = Task(executorPreference: executor) { [dispatcher, peer, executor] in
      let outcome = await dispatcher.run(message, peer: peer, replies: replies)
      executor.eventLoop.execute { connection.value.finish(outcome, mode: message.mode) }
    }
    running = Running(mode: message.mode, task: task)
  }

  private func finish(_ outcome: Dispatcher.Outcome, mode: CallMessage.Mode) {
    running = nil
    switch (outcome, mode) {
    case (_, .oneway): break
    case (.reply(let parameters), .simple), (.reply(let parameters), .more),
      (.reply(let parameters), .upgrade):
      gate.reserve(parameters.readableBytes)
      write(ReplyMessage.finalPrefix, parameters)
    case (.error(let error), .simple), (.error(let error), .more), (.error(let error), .upgrade):
      let message = ReplyMessage.encodedError(error)
      gate.reserve(message.readableBytes)
      writeEnd(message, releasing: message.readableBytes)
    case (.close, .simple), (.close, .more), (.close, .upgrade):
      // After a disconnect this is how a cancelled handler ends; one-way calls may still follow.
      if !disconnected { isStopping = true }
    }
    if isStopping { closeAfterWriting() } else { startNext() }
    endIfDone()
  }

  private func writeContinued(_ parameters: ByteBuffer) {
    write(ReplyMessage.continuesPrefix, parameters)
  }

  /// Writes a reply around parameters that other connections may share.
  private func write(_ prefix: ByteBuffer, _ parameters: ByteBuffer) {
    context?.write(wrapOutboundOut(prefix), promise: nil)
    context?.write(wrapOutboundOut(parameters), promise: nil)
    writeEnd(ReplyMessage.end, releasing: parameters.readableBytes)
  }

  /// Writes the last piece of a message; opens the gate for what was reserved once that has left.
  private func writeEnd(_ end: ByteBuffer, releasing reserved: Int) {
    guard let context else { return gate.release(reserved) }
    let written = context.eventLoop.makePromise(of: Void.self)
    let connection = NIOLoopBound(self, eventLoop: executor.eventLoop)
    written.futureResult.whenComplete { [gate] _ in
      gate.release(reserved)
      connection.value.startNext()
    }
    context.writeAndFlush(wrapOutboundOut(end), promise: written)
  }

  /// Closes once everything written so far has left.
  private func closeAfterWriting() {
    guard let context else { return }
    context.writeAndFlush(wrapOutboundOut(ByteBuffer())).assumeIsolated().whenComplete { _ in
      context.close(promise: nil)
    }
  }
}
