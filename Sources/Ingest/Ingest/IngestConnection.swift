import JSON
import LiveEvents
package import NIOCore
import WireFormats

/// One connection of the ingest socket: reads bytes, splits them into lines, decodes these and
/// hands them over by room.
///
/// Reads only while the sink keeps up, and buffers no more than the beginning of one line itself.
package final class IngestConnection: ChannelInboundHandler {
  package typealias InboundIn = ByteBuffer
  package typealias OutboundOut = ByteBuffer

  /// Fired through the pipeline to end the connection in an orderly way: what was read is handed
  /// over and consumed, syncs are answered, and the connection closes. It waits no longer than
  /// ``IngestConfiguration/drainTimeout`` for a sender that does not read its answers.
  package struct Drain: Sendable { package init() {} }

  private enum Phase {
    case reading
    /// Too much is outstanding: nothing is read until capacity is free again.
    case paused
    /// The sender will send no more. Closes when all its syncs are answered.
    case answering
    /// The server is stopping. Closes when nothing is outstanding.
    case draining
    case closed
  }

  /// Lines as they were read.
  private struct Held {
    let slab: ByteSlab?
    var offset = 0
    /// A line that is too long follows them.
    let isTooLong: Bool
  }

  private let sink: any IngestSink
  private let configuration: IngestConfiguration
  private var ledger: SharedLedger?
  private var core = ConnectionCore()
  private var touched = TouchedRooms()
  private var phase = Phase.reading
  /// What was read and not decoded yet: too many syncs are unanswered. At most what one turn reads.
  private var held: [Held] = []
  /// Lines are being taken. What is answered meanwhile is looked at afterwards.
  private var isProcessing = false
  private var isStopping = false
  /// Closes the connection if its sender does not read.
  private var drainDeadline: Scheduled<Void>?
  private var arrival: Timestamp = 0

  package init(configuration: IngestConfiguration, sink: any IngestSink) {
    self.configuration = configuration
    self.sink = sink
  }

  // MARK: Channel events

  package func handlerAdded(context: ChannelHandlerContext) {
    ledger = SharedLedger(limits: configuration.limits, channel: context.channel)
  }

  package func channelActive(context: ChannelHandlerContext) {
    proceed(context)
    context.fireChannelActive()
  }

  package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard phase == .reading || phase == .paused else { return }
    arrival = configuration.now()
    let buffer = unwrapInboundIn(data)
    var isTooLong = false
    let slab = buffer.withUnsafeReadableBytes {
      core.assembler.receive($0, isTooLong: &isTooLong)
    }
    if slab != nil || isTooLong { held.append(Held(slab: slab, isTooLong: isTooLong)) }
    if held.count == 1 { processHeld(context) }
  }

  package func channelReadComplete(context: ChannelHandlerContext) {
    handOver()
    proceed(context)
  }

  package func channelWritabilityChanged(context: ChannelHandlerContext) { proceed(context) }

  package func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    switch event {
    case is SharedLedger.Changed:
      ledger?.noteWakeUp()
      proceed(context)
    case let event as ChannelEvent where event == .inputClosed:
      finish(as: .answering)
      proceed(context)
    case is Drain:
      isStopping = true
      finish(as: .draining)
      if phase == .closed { limitWriting(context) } else { proceed(context) }
    default: context.fireUserInboundEventTriggered(event)
    }
  }

  package func errorCaught(context: ChannelHandlerContext, error: any Error) {
    context.close(promise: nil)
  }

  package func channelInactive(context: ChannelHandlerContext) {
    finish(as: .closed)
    phase = .closed
    drainDeadline?.cancel()
    ledger?.disconnect()
    context.fireChannelInactive()
  }

  // MARK: Lines

  /// Takes the lines that were read, up to a sync that has to wait for answers to earlier ones.
  ///
  /// - Parameter context: `nil` to take them all, because no more will be read.
  private func processHeld(_ context: ChannelHandlerContext?) {
    if isProcessing { return }
    isProcessing = true
    defer { isProcessing = false }
    while let next = held.first {
      var offset = next.offset
      if let slab = next.slab {
        while let control = core.process(slab, from: &offset, arrival: arrival) {
          switch control {
          case .sync(let token): sync(token)
          case .options(let options): apply(options)
          }
          if let context, mustWait(context) {
            held[0].offset = offset
            return
          }
        }
      }
      if next.isTooLong { core.rejectTooLong() }
      held.removeFirst()
    }
  }

  /// Whether too many syncs are unanswered, those that can be answered now not counted.
  private func mustWait(_ context: ChannelHandlerContext) -> Bool {
    guard let ledger, ledger.withLedger({ $0.owesTooManyAnswers }) else { return false }
    write(ledger.withLedger { $0.takeAnswers() }, context)
    return ledger.withLedger { $0.owesTooManyAnswers } || !context.channel.isWritable
  }

  private func apply(_ options: ConnectionOptions) {
    // Options apply only to what follows them.
    handOver()
    if let clock = options.clock { core.clock = clock }
    if let room = options.room { core.decoder.overrideRoom(room) }
    if let format = options.format { core.decoder.format = format }
  }

  private func sync(_ token: Text) {
    handOver(wantsAcknowledgement: true)
    let token = token.withRawBytes { Array($0) }
    let (received, rejected) = (core.received, core.rejected)
    ledger?.withLedger { $0.sync(token: token, received: received, rejected: rejected) }
  }

  /// Stops taking lines. An unfinished one is still counted.
  private func finish(as next: Phase) {
    guard phase == .reading || phase == .paused else {
      // A stopping server may find that a connection is already waiting for its answers.
      if phase == .answering, next == .draining { phase = next }
      return
    }
    processHeld(nil)
    arrival = configuration.now()
    if case .sync(let token)? = core.processRest(arrival: arrival) { sync(token) }
    handOver()
    phase = next
  }

  // MARK: Handing over

  /// Hands over what has been gathered. With `wantsAcknowledgement`, every room fed since the last
  /// sync gets a delivery that asks for it, if necessary an empty one.
  private func handOver(wantsAcknowledgement: Bool = false) {
    let (batches, unroutable) = core.batches.take()
    if !unroutable.isEmpty { sink.rejectUnroutable(unroutable) }
    for batch in batches {
      touched.insert(batch.room)
      deliver(batch, wantsAcknowledgement)
    }
    // Strangers choose the names of rooms, so the number remembered is limited here.
    let hasManyRooms = core.decoder.roomCount > configuration.maximumRoomsRemembered
    guard wantsAcknowledgement || hasManyRooms else { return }
    var waiting = touched.takeAll()
    if wantsAcknowledgement {
      waiting.removeAll { room in batches.contains { $0.room == room } }
    }
    for room in waiting { deliver(RoomBatches.Batch(room: room), true) }
    if hasManyRooms { core.decoder.forgetRooms() }
  }

  private func deliver(_ batch: RoomBatches.Batch, _ wantsAcknowledgement: Bool) {
    guard let ledger else { return }
    let bytes = batch.bytes
    let epoch = ledger.withLedger { ledger in
      ledger.handOver(bytes: bytes, wantsAcknowledgement: wantsAcknowledgement)
      return ledger.openEpoch
    }
    sink.deliver(
      RoomDelivery(
        room: core.decoder.name(of: batch.room), events: batch.events,
        rejections: batch.rejections, clock: core.clock,
        receipt: DeliveryReceipt(
          ledger: ledger, epoch: epoch, bytes: bytes,
          wantsAcknowledgement: wantsAcknowledgement)))
  }

  // MARK: Continuing

  /// Sends the answers that are due, then reads on, waits or closes.
  private func proceed(_ context: ChannelHandlerContext) {
    guard let ledger, phase != .closed, !isProcessing else { return }
    var isAbandoned = answer(ledger, context)
    while phase == .reading || phase == .paused, !isAbandoned {
      let isPaused = phase == .paused
      let mayRead =
        ledger.satisfies { isPaused ? $0.hasFreeCapacity : !$0.isFull }
        && context.channel.isWritable
      phase = mayRead ? .reading : .paused
      guard mayRead else { return }
      if held.isEmpty { return context.read() }
      processHeld(context)
      handOver()
      isAbandoned = answer(ledger, context)
    }
    switch phase {
    case _ where isAbandoned: close(context)
    case .reading, .paused: break
    case .answering: if ledger.satisfies({ !$0.owesAnswers }) { close(context) }
    case .draining: if ledger.satisfies({ $0.isIdle }) { close(context) }
    case .closed: break
    }
  }

  /// Sends the answers that are due. Returns whether one is owed that will never be.
  private func answer(_ ledger: SharedLedger, _ context: ChannelHandlerContext) -> Bool {
    let (answers, isAbandoned) = ledger.withLedger { ($0.takeAnswers(), $0.isAbandoned) }
    write(answers, context)
    return isAbandoned
  }

  private func write(_ answers: [DeliveryLedger.Answer], _ context: ChannelHandlerContext) {
    guard !answers.isEmpty else { return }
    var buffer = context.channel.allocator.buffer(capacity: answers.count * 96)
    for answer in answers {
      // Lines that should be on disk but are not are reported as applied, never as synced.
      let type = answer.failure == nil ? "synced" : "applied"
      buffer.writeString("{\"type\":\"\(type)\",\"token\":\"")
      buffer.writeBytes(answer.token)
      buffer.writeString("\",\"received\":\(answer.received),\"rejected\":\(answer.rejected)")
      if let reason = answer.failure {
        buffer.writeString(",\"reason\":")
        buffer.writeBytes(JSONValue.string(reason).serialized())
      }
      buffer.writeString("}\n")
    }
    context.writeAndFlush(wrapOutboundOut(buffer), promise: nil)
  }

  private func close(_ context: ChannelHandlerContext) {
    phase = .closed
    // After the answers that are still to be written.
    context.writeAndFlush(wrapOutboundOut(ByteBuffer())).assumeIsolated().whenComplete { _ in
      context.close(promise: nil)
    }
    if isStopping { limitWriting(context) }
  }

  /// Closes the connection once the sender has had its time to read. The time that the sink took
  /// does not count: stopping the server waits for the sink anyway, and the answer is owed.
  private func limitWriting(_ context: ChannelHandlerContext) {
    guard drainDeadline == nil, context.channel.isActive else { return }
    drainDeadline = context.eventLoop.assumeIsolated().scheduleTask(
      in: configuration.drainTimeout
    ) { context.close(promise: nil) }
  }
}
