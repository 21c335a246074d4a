package import NIOCore
import UnixSockets

/// The server's end of a connection, which reads calls in order, runs one at a time, and writes the
/// replies.
///
/// Confined to the connection's event loop. While a call runs, the following bytes wait unparsed.
/// Once the waiting bytes contain a complete message, reading stops, so a client that pipelines
/// endlessly is held back by its own socket buffer.
package final class ServerConnection: ChannelDuplexHandler {
  package typealias InboundIn = ByteBuffer
  package typealias OutboundIn = Never
  package typealias OutboundOut = ByteBuffer

  private struct Running {
    let mode: CallMessage.Mode
    let task: Task<Void, Never>
  }

  /// The state of the turn. Calls of clients without rights run one at a time, so that these
  /// clients use only a part of the event loop's time, regardless of their number of connections.
  private enum Turn {
    case none, waiting
    /// No call has begun yet.
    case granted
    case used
  }

  /// The maximum time for which a call that does not need the event loop keeps the turn.
  private static let longestTurn = TimeAmount.milliseconds(50)

  private let dispatcher: Dispatcher
  private let gate: OutputGate
  private let executor: LoopExecutor
  private let limits: VarlinkServer.Limits
  /// The connection's registration, or nil if the connection does not belong to a server.
  private let seat: Clients.Seat?
  private var splitter: MessageSplitter
  private var context: ChannelHandlerContext?
  private var running: Running?
  private var turn = Turn.none
  private var turnEnd: Scheduled<Void>?
  /// Whether the channel asked to read while a complete message was waiting.
  private var heldRead = false
  /// Closes the connection if the rest of a call does not arrive in time.
  private var inputDeadline: Scheduled<Void>?
  /// Whether the client has ended its input. Calls that the client has sent are still answered.
  private var inputEnded = false
  /// Whether the client no longer reads replies. One-way calls that were sent earlier still run.
  private var disconnected = false
  /// Whether the connection is stopping, so that no further call begins.
  private var isStopping = false
  /// Closes the connection if stopping takes too long.
  private var drainDeadline: Scheduled<Void>?
  /// A closure that is called when the channel is closed and the last call has ended.
  private var onEnd: (() -> Void)?

  package init(
    dispatcher: Dispatcher, limits: VarlinkServer.Limits, eventLoop: any EventLoop,
    seat: Clients.Seat? = nil
  ) {
    self.dispatcher = dispatcher
    self.limits = limits
    self.seat = seat
    gate = OutputGate(limit: limits.outputBytes)
    executor = LoopExecutor(eventLoop)
    splitter = MessageSplitter(
      maximumBytes: seat?.hasRights ?? true
        ? limits.messageBytes : min(limits.messageBytes, limits.messageBytesWithoutRights))
  }

  package func channelActive(context: ChannelHandlerContext) {
    self.context = context
    context.fireChannelActive()
    // `stop()` was called before the channel could be closed.
    if isStopping { context.close(promise: nil) }
  }

  package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    var bytes = unwrapInboundIn(data)
    splitter.append(&bytes)
    startNext()
  }

  /// Limits the time until a call is complete, and the memory of an incomplete call.
  private func watchInput() {
    guard splitter.heldBytes > 0, !isStopping else { return }
    if splitter.hasNext() {
      // The whole call has arrived and waits for its turn or for the previous call.
      endInputDeadline()
      return reportUsage()
    }
    splitter.compact()
    reportUsage()
    guard inputDeadline == nil, !disconnected else { return }
    inputDeadline = executor.eventLoop.assumeIsolated().scheduleTask(in: limits.messageTimeout) {
      [self] in
      seat?.refuse(.unfinishedCall)
      context?.close(promise: nil)
    }
  }

  private func endInputDeadline() {
    inputDeadline?.cancel()
    inputDeadline = nil
  }

  /// Reports to the server which resources this connection holds.
  private func reportUsage() {
    guard let seat, !disconnected else { return }
    let bytes = gate.inFlight + (splitter.heldBytes > 0 ? splitter.allocatedBytes : 0)
    seat.update(bytes: bytes, isIdle: bytes == 0 && running == nil)
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
    endInputDeadline()
    gate.close()
    if turn == .waiting {
      seat?.leaveTurn()
      turn = .none
    }
    if let running, running.mode != .oneway { running.task.cancel() }
    startNext()
    self.context = nil
    endIfDone()
    context.fireChannelInactive()
  }

  package func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // After a reset or a failed write, nothing more can be sent to this client.
    context.close(promise: nil)
  }

  /// Closes the connection when the current call has finished and the client has read its replies,
  /// at the latest after ``VarlinkServer/Limits/drainTimeout``. A call with `more` is cancelled
  /// immediately.
  package func stop() {
    isStopping = true
    if let running {
      if running.mode == .more { running.task.cancel() }
    } else {
      closeAfterWriting()
    }
    guard drainDeadline == nil, !hasEnded else { return }
    drainDeadline = executor.eventLoop.assumeIsolated().scheduleTask(in: limits.drainTimeout) {
      [self] in stopImmediately()
    }
  }

  /// Cancels the current call, even if it is one-way, and closes the connection.
  func stopImmediately() {
    isStopping = true
    running?.task.cancel()
    context?.close(promise: nil)
  }

  /// Records that the channel is closed. Calls `body` when the last call has also ended.
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
    while running == nil, !isStopping, disconnected || gate.isOpen, splitter.hasNext(), mayStart() {
      guard let message = nextCall() else { break }
      start(message)
    }
    if turn == .granted { endTurn() }
    if inputEnded, running == nil, !splitter.hasNext() { closeAfterWriting() }
    if heldRead, !splitter.hasNext() {
      heldRead = false
      context?.read()
    }
    watchInput()
  }

  /// Returns whether the next call may be read now. If not, it is read when it gets the turn.
  private func mayStart() -> Bool {
    guard let seat, !seat.hasRights else { return true }
    // A client that disconnected before its turn has lost the turn.
    guard !disconnected else { return false }
    switch turn {
    case .granted: return true
    case .waiting, .used: return false
    case .none:
      let connection = NIOLoopBound(self, eventLoop: executor.eventLoop)
      let hasTurn = seat.acquireTurn { [eventLoop = executor.eventLoop] in
        eventLoop.execute {
          connection.value.turn = .granted
          connection.value.startNext()
        }
      }
      turn = hasTurn ? .granted : .waiting
      return hasTurn
    }
  }

  private func endTurn() {
    guard turn == .granted || turn == .used else { return }
    turn = .none
    turnEnd?.cancel()
    turnEnd = nil
    seat?.endTurn(on: executor.eventLoop)
  }

  /// Returns the next call to run. A malformed message ends the connection.
  private func nextCall() -> CallMessage? {
    do {
      while let bytes = try splitter.next() {
        endInputDeadline()
        let message = try CallMessage(parsing: bytes)
        if !disconnected || message.mode == .oneway { return message }
      }
    } catch {
      isStopping = true
      endInputDeadline()
      if error is MessageSplitter.Failure, seat?.hasRights == false {
        seat?.refuse(.callLength)
        writeError(limits.callTooLong.varlinkError)
      }
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
    // The task does not retain the message, so that decoding can release the parameters.
    let (path, mode) = (message.method, message.mode)
    let parameters = CallParameters(message.parameters)
    let task = Task(executorPreference: executor) { [dispatcher, seat, executor] in
      let outcome = await dispatcher.run(path, parameters, mode, seat: seat, replies: replies)
      executor.eventLoop.execute { connection.value.finish(outcome, mode: mode) }
    }
    running = Running(mode: mode, task: task)
    if turn == .granted {
      turn = .used
      turnEnd = executor.eventLoop.assumeIsolated().scheduleTask(in: Self.longestTurn) {
        [self] in endTurn()
      }
    }
    reportUsage()
  }

  private func finish(_ outcome: Dispatcher.Outcome, mode: CallMessage.Mode) {
    running = nil
    endTurn()
    switch (outcome, mode) {
    case (_, .oneway): break
    case (.reply(let parameters), .simple), (.reply(let parameters), .more),
      (.reply(let parameters), .upgrade):
      gate.reserve(parameters.readableBytes)
      write(ReplyMessage.finalPrefix, parameters)
    case (.error(let error), .simple), (.error(let error), .more), (.error(let error), .upgrade):
      writeError(error)
    case (.close, .simple), (.close, .more), (.close, .upgrade):
      // A cancelled handler ends this way after a disconnect; one-way calls may follow.
      if !disconnected { isStopping = true }
    }
    if isStopping { closeAfterWriting() } else { startNext() }
    reportUsage()
    endIfDone()
  }

  private func writeError(_ error: VarlinkError) {
    let message = ReplyMessage.encodedError(error)
    gate.reserve(message.readableBytes)
    writeEnd(message, releasing: message.readableBytes)
  }

  private func writeContinued(_ parameters: ByteBuffer) {
    endTurn()
    write(ReplyMessage.continuesPrefix, parameters)
  }

  /// Writes a reply with parameters that other connections may share.
  private func write(_ prefix: ByteBuffer, _ parameters: ByteBuffer) {
    context?.write(wrapOutboundOut(prefix), promise: nil)
    context?.write(wrapOutboundOut(parameters), promise: nil)
    writeEnd(ReplyMessage.end, releasing: parameters.readableBytes)
  }

  /// Writes the last piece of a message. Releases the reserved bytes once the piece was written.
  private func writeEnd(_ end: ByteBuffer, releasing reserved: Int) {
    guard let context else { return gate.release(reserved) }
    let written = context.eventLoop.makePromise(of: Void.self)
    let connection = NIOLoopBound(self, eventLoop: executor.eventLoop)
    written.futureResult.whenComplete { [gate] _ in
      gate.release(reserved)
      connection.value.startNext()
      connection.value.reportUsage()
    }
    context.writeAndFlush(wrapOutboundOut(end), promise: written)
    reportUsage()
  }

  /// Closes the connection once everything was written.
  private func closeAfterWriting() {
    guard let context else { return }
    context.writeAndFlush(wrapOutboundOut(ByteBuffer())).assumeIsolated().whenComplete { _ in
      context.close(promise: nil)
    }
  }
}
