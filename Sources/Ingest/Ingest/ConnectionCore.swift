import LiveEvents
import WireFormats

/// Decodes, counts and collects the lines that a connection reads. Needs no channel.
struct ConnectionCore: ~Copyable {
  var assembler = LineAssembler()
  var decoder = LineDecoder()
  var batches = RoomBatches()
  var clock = FrameClock.arrival
  /// The number of lines that were events or were rejected.
  private(set) var received = 0
  /// The number of ``received`` lines that this connection rejected.
  private(set) var rejected = 0
  /// The current batch, or `nil` outside of batches. The events of a batch are collected until it
  /// ends, so that each room gets its part of the batch in one delivery.
  private(set) var position: BatchPosition?
  /// Whether the batch has exceeded ``batchLimit``, so that its remaining lines are rejected.
  private var isTooLarge = false

  /// The sources that have reported a state, with the room of the report, at most ``sourceLimit``.
  private(set) var sources: [(name: Text, room: RoomName)] = []
  var announcedSources = 0
  static let sourceLimit = 64

  /// The maximum memory for the lines of one batch, in bytes: enough for 64 KiB of the shortest
  /// lines, plus one line of maximum length.
  static let batchLimit = 512 << 10

  /// Decodes at most `lines` lines starting at `offset` and collects their events. Stops at the end
  /// of the slab or at a control line, which is returned.
  mutating func process(
    _ slab: ByteSlab, from offset: inout Int, atMost lines: Int, arrival: Timestamp
  ) -> ControlLine? {
    defer { limitBatch() }
    for _ in 0..<lines {
      guard let line = slab.nextLine(at: &offset) else { return nil }
      let decoded = decoder.decode(slab, line: line, arrival: arrival)
      if let control = collect(decoded, line, of: slab) { return control }
    }
    return nil
  }

  /// Begins a batch. With `nil`, the following lines belong to no batch. Events collected so far
  /// must already have been handed over.
  mutating func begin(_ position: BatchPosition?) {
    self.position = position
    isTooLarge = false
  }

  /// The batch number of the collected events. `nil` if they belong to no batch, or if their batch
  /// is rejected.
  var gatheredPosition: BatchPosition? { isTooLarge ? nil : position }

  private mutating func limitBatch() {
    guard position != nil, isTooLarge || batches.memory > Self.batchLimit else { return }
    isTooLarge = true
    rejected += batches.rejectEvents(.batchTooLarge)
  }

  /// Rejects a batch whose sender disconnected before its end. The sender will send the batch
  /// again.
  mutating func rejectUnfinished() {
    guard position != nil else { return }
    rejected += batches.rejectEvents(.unfinishedBatch)
    begin(nil)
  }

  mutating func rejectTooLong() {
    reject(.lineTooLong, room: decoder.override, bytes: 0, fault: nil)
  }

  /// Decodes the incomplete last line of a sender that disconnected. The line counts if only its
  /// line ending is missing. If the line is a control line, returns it.
  mutating func processRest(arrival: Timestamp) -> ControlLine? {
    guard let slab = assembler.removeRest() else { return nil }
    let line = ByteSlab.Slice(offset: 0, count: slab.count)
    return collect(decoder.decodeUnended(slab, line: line, arrival: arrival), line, of: slab)
  }

  @inline(__always)
  private mutating func collect(
    _ decoded: consuming DecodedLine, _ line: ByteSlab.Slice, of slab: ByteSlab
  ) -> ControlLine? {
    switch consume decoded {
    case .event(let event, let room):
      received &+= 1
      if case .source(.state(let status)) = event.payload { recordSource(status, in: room) }
      batches.add(event, to: room, bytes: line.count)
      if decoder.hasRemarks { batches.addRemarks(decoder.removeRemarks(), room: room) }
    case .rejected(let reason, let room):
      let remarks = decoder.removeRemarks()
      batches.addRemarks(remarks, room: room)
      // Only the first line with this reason gets a description of its fault, because describing a
      // fault takes time.
      let fault =
        batches.isFirst(reason, room: room)
        ? decoder.fault(of: line, in: slab) ?? remarks.unknownKind : nil
      reject(reason, room: room, bytes: line.count, fault: fault)
    case .control(let control): return control
    case .blank: break
    }
    return nil
  }

  @inline(never)
  private mutating func recordSource(_ status: SourceHealth, in room: RoomReference) {
    let room = decoder.name(of: room)
    guard sources.count < Self.sourceLimit,
      !sources.contains(where: { $0.name == status.source && $0.room == room })
    else { return }
    sources.append((status.source.owned(), room))
  }

  private mutating func reject(
    _ reason: RejectionReason, room: RoomReference?, bytes: Int, fault: String?
  ) {
    received += 1
    rejected += 1
    batches.reject(reason, room: room, bytes: bytes, fault: fault)
  }
}
