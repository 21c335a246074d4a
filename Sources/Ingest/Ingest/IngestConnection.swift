import JSON
import LiveEvents
package import NIOCore
import WireFormats

/// One connection of the ingest socket. Reads bytes, splits them into lines, decodes the lines and
/// delivers the events to their rooms.
///
/// Reads only while the sink keeps up. Buffers at most one incomplete line and the input of one
/// turn.
package final class IngestConnection: ChannelInboundHandler {
  package typealias InboundIn = ByteBuffer
  package typealias OutboundOut = ByteBuffer

  /// An event that ends the connection in an orderly way when it is fired through the pipeline.
  ///
  /// The connection hands over the data already read, waits until the sink has consumed it, answers
  /// the syncs, and closes. The connection waits at most ``IngestConfiguration/drainTimeout`` for a
  /// sender that does not read its answers.
  package struct Drain: Sendable { package init() {} }

  /// An event fired through the pipeline when the ledger has changed.
  private struct LedgerChanged: Sendable {}

  private enum Phase {
    case reading
    /// Too much is outstanding, so no line is processed until capacity is free again.
    case paused
    /// The sender has ended its input. The connection closes when all syncs are answered.
    case answering
    /// The server is stopping. The connection closes when nothing is outstanding.
    case draining
    case closed
  }

  /// Lines that were read but not decoded yet.
  private struct HeldInput {
    let slab: ByteSlab?
    var offset = 0
    /// Whether a line that exceeds the maximum length follows.
    let isTooLong: Bool
  }

  private let sink: any IngestSink
  private let configuration: IngestConfiguration
  private let memory: IngestMemory
  private var slot: ConnectionSlot?
  private var ledger: SharedLedger?
  private var core = ConnectionCore()
  private var touched = TouchedRooms()
  private var phase = Phase.reading
  /// Input that is not decoded yet, because too much is outstanding. At most the input of one turn.
  private var held: [HeldInput] = []
  /// Whether lines are being processed. If the ledger changes meanwhile, the change is handled
  /// after the lines.
  private var isProcessing = false
  /// Whether the sender has ended its input. Lines may still be held.
  private var inputHasEnded = false
  /// Whether the channel is closed. Lines may still be held.
  private var hasGone = false
  private var isStopping = false
  /// Closes the connection if its sender does not read its answers.
  private var drainDeadline: Scheduled<Void>?
  private var arrival: Timestamp = 0

  /// - Parameters:
  ///   - memory: The memory count that all connections of the server share. By default the
  ///     connection has a separate count.
  ///   - slot: Released when all deliveries of the connection are consumed.
  package init(
    configuration: IngestConfiguration, sink: any IngestSink, memory: IngestMemory? = nil,
    slot: ConnectionSlot? = nil
  ) {
    self.configuration = configuration
    self.sink = sink
    self.memory = memory ?? IngestMemory(limit: configuration.sharedBytes)
    self.slot = slot
  }

  // MARK: Channel events

  package func handlerAdded(context: ChannelHandlerContext) {
    let channel = context.channel
    ledger = SharedLedger(limits: configuration.limits, memory: memory, slot: slot) {
      channel.pipeline.fireUserInboundEventTriggered(LedgerChanged())
    }
    slot = nil
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
    if slab != nil || isTooLong { held.append(HeldInput(slab: slab, isTooLong: isTooLong)) }
    if held.count == 1 { processHeld(context) }
  }

  package func channelReadComplete(context: ChannelHandlerContext) {
    handOverUnlessInBatch()
    proceed(context)
  }

  package func channelWritabilityChanged(context: ChannelHandlerContext) { proceed(context) }

  package func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    switch event {
    case is LedgerChanged:
      ledger?.recordWakeUp()
      if hasGone { processRest() } else { proceed(context) }
    case let event as ChannelEvent where event == .inputClosed:
      inputHasEnded = true
      proceed(context)
    case is Drain:
      isStopping = true
      if hasGone { return processRest(isForced: true) }
      finish(as: .draining)
      if phase == .closed { limitWriting(context) } else { proceed(context) }
    default: context.fireUserInboundEventTriggered(event)
    }
  }

  package func errorCaught(context: ChannelHandlerContext, error: any Error) {
    context.close(promise: nil)
  }

  package func channelInactive(context: ChannelHandlerContext) {
    drainDeadline?.cancel()
    hasGone = true
    let loop = context.eventLoop
    let connection = NIOLoopBound(self, eventLoop: loop)
    ledger?.setWake { loop.execute { connection.value.processRest() } }
    processRest()
    ledger?.slot?.leave { loop.submit { connection.value.processRest(isForced: true) } }
    context.fireChannelInactive()
  }

  /// Processes the remaining input of a sender that disconnected, at the pace of the sink. With
  /// `isForced`, does not wait for the sink, because the server is stopping.
  private func processRest(isForced: Bool = false) {
    guard let ledger else { return }
    ledger.recordWakeUp()
    while !isForced, phase == .reading || phase == .paused, !held.isEmpty {
      phase = .paused
      _ = ledger.withLedger { $0.removeAnswers() }
      guard ledger.satisfies({ $0.hasFreeCapacity }) else { return }
      processHeld()
      handOverUnlessInBatch()
    }
    finish(as: .closed)
    phase = .closed
    for source in core.sources { sink.sourceDisconnected(source.name, in: source.room) }
    ledger.setWake(nil)
    self.ledger = nil
  }

  // MARK: Lines

  /// Processes the held lines as far as the limits allow.
  ///
  /// - Parameters:
  ///   - context: The context for writing answers, or `nil` if the sender has disconnected.
  ///   - isForced: Whether to ignore the limits, because the server is stopping.
  private func processHeld(_ context: ChannelHandlerContext? = nil, isForced: Bool = false) {
    if isProcessing { return }
    isProcessing = true
    defer { isProcessing = false }
    while let next = held.first {
      var offset = next.offset
      while let slab = next.slab, offset < slab.count {
        if !isForced, mustStop() {
          held[0].offset = offset
          return
        }
        let control = core.process(
          slab, from: &offset, atMost: IngestConfiguration.linesAtOnce, arrival: arrival)
        switch control {
        case .sync(let token)?: sync(token)
        case .options(let options)?: apply(options)
        case .position(let position)?: begin(position)
        case nil: continue
        }
        if !isForced, mustWait(context) {
          held[0].offset = offset
          return
        }
      }
      if next.isTooLong { core.rejectTooLong() }
      held.removeFirst()
    }
  }

  /// Whether the limits are reached, including the collected events.
  private func mustStop() -> Bool {
    // A batch is handed over as a whole, so it must be read to its end. Batches have a separate
    // limit.
    let gathered = core.position == nil ? core.batches.memory : 0
    return ledger?.withLedger { $0.mustStop(with: gathered) } ?? false
  }

  /// Whether too many syncs are unanswered after sending the answers that are ready.
  private func mustWait(_ context: ChannelHandlerContext?) -> Bool {
    guard let ledger, ledger.withLedger({ $0.owesTooManyAnswers }) else { return false }
    let answers = ledger.withLedger { $0.removeAnswers() }
    if let context { write(answers, context) }
    return ledger.withLedger { $0.owesTooManyAnswers } || context?.channel.isWritable == false
  }

  private func apply(_ options: ConnectionOptions) {
    // Options apply only to the lines after them.
    begin(nil)
    if let clock = options.clock { core.clock = clock }
    if let room = options.room { core.decoder.overrideRoom(room) }
    if let format = options.format { core.decoder.format = format }
    if options.platform != nil || options.source != nil {
      let before = core.decoder.origin
      core.decoder.origin = Origin(
        platform: options.platform ?? before.platform, source: options.source ?? before.source)
    }
  }

  /// Hands over the collected events, then begins a batch. With `nil`, the following lines belong
  /// to no batch.
  private func begin(_ position: BatchPosition?) {
    handOver()
    core.begin(position)
  }

  private func sync(_ token: Text) {
    handOver(wantsAcknowledgement: true)
    core.begin(nil)
    let token = token.withRawBytes { Array($0) }
    let (received, rejected) = (core.received, core.rejected)
    ledger?.withLedger { $0.sync(token: token, received: received, rejected: rejected) }
  }

  /// Stops processing lines. An incomplete last line is still counted.
  private func finish(as next: Phase) {
    guard phase == .reading || phase == .paused else {
      // A stopping server may find a connection that is already waiting for its answers.
      if phase == .answering, next == .draining { phase = next }
      return
    }
    processHeld(isForced: true)
    arrival = configuration.now()
    if case .sync(let token)? = core.processRest(arrival: arrival) { sync(token) }
    core.rejectUnfinished()
    handOver()
    phase = next
  }

  // MARK: Handing over

  private func handOverUnlessInBatch() {
    if core.position == nil { handOver() }
  }

  /// Hands over the collected events. With `wantsAcknowledgement`, every room that received events
  /// since the last sync gets a delivery, possibly empty, that requires an acknowledgement.
  private func handOver(wantsAcknowledgement: Bool = false) {
    for source in core.sources[core.announcedSources...] {
      sink.sourceConnected(source.name, in: source.room)
    }
    core.announcedSources = core.sources.count
    let (batches, unroutable) = core.batches.removeAll()
    if !unroutable.isEmpty { sink.rejectUnroutable(unroutable) }
    for batch in batches {
      touched.insert(batch.room)
      deliver(batch, wantsAcknowledgement, core.gatheredPosition)
    }
    // Clients choose the names of rooms, so the number of remembered rooms is limited.
    let hasManyRooms = core.decoder.roomCount > configuration.maximumRoomsRemembered
    guard wantsAcknowledgement || hasManyRooms else { return }
    var waiting = touched.removeAll()
    if wantsAcknowledgement {
      waiting.removeAll { room in batches.contains { $0.room == room } }
    }
    for room in waiting { deliver(RoomBatches.Batch(room: room), true) }
    if hasManyRooms { core.decoder.forgetRooms() }
  }

  private func deliver(
    _ batch: RoomBatches.Batch, _ wantsAcknowledgement: Bool, _ position: BatchPosition? = nil
  ) {
    guard let ledger else { return }
    let bytes = batch.memory
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
          wantsAcknowledgement: wantsAcknowledgement),
        position: position))
  }

  // MARK: Continuing

  /// Sends the answers that are ready, then continues reading, waits, or closes.
  private func proceed(_ context: ChannelHandlerContext) {
    guard let ledger, phase != .closed, !hasGone, !isProcessing else { return }
    var isAbandoned = answer(ledger, context)
    while phase == .reading || phase == .paused, !isAbandoned {
      if inputHasEnded, held.isEmpty {
        finish(as: .answering)
        isAbandoned = answer(ledger, context)
        break
      }
      let isPaused = phase == .paused
      let mayRead =
        ledger.satisfies { isPaused ? $0.hasFreeCapacity : !$0.isFull }
        && context.channel.isWritable
      phase = mayRead ? .reading : .paused
      guard mayRead else { return }
      if held.isEmpty { return context.read() }
      processHeld(context)
      handOverUnlessInBatch()
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

  /// Sends the answers that are ready. Returns whether a sync can never be answered.
  private func answer(_ ledger: SharedLedger, _ context: ChannelHandlerContext) -> Bool {
    let (answers, isAbandoned) = ledger.withLedger { ($0.removeAnswers(), $0.isAbandoned) }
    write(answers, context)
    return isAbandoned
  }

  private func write(_ answers: [DeliveryLedger.Answer], _ context: ChannelHandlerContext) {
    guard !answers.isEmpty else { return }
    var buffer = context.channel.allocator.buffer(capacity: answers.count * 96)
    for answer in answers {
      // If lines were applied but could not be saved, the answer is "applied" instead of "synced".
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
    let count = buffer.readableBytes
    memory.add(count)
    context.writeAndFlush(wrapOutboundOut(buffer)).whenComplete { [memory] _ in
      memory.subtract(count)
    }
  }

  private func close(_ context: ChannelHandlerContext) {
    phase = .closed
    // Closes after all earlier answers are written.
    context.writeAndFlush(wrapOutboundOut(ByteBuffer())).assumeIsolated().whenComplete { _ in
      context.close(promise: nil)
    }
    if isStopping { limitWriting(context) }
  }

  /// Closes the connection if the sender does not read its answers in time. The time that the sink
  /// needs does not count: a stopping server waits for the sink anyway, and the sender must get the
  /// answer.
  private func limitWriting(_ context: ChannelHandlerContext) {
    guard drainDeadline == nil, context.channel.isActive else { return }
    drainDeadline = context.eventLoop.assumeIsolated().scheduleTask(
      in: configuration.drainTimeout
    ) { context.close(promise: nil) }
  }
}
