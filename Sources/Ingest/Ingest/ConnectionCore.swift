import LiveEvents
import WireFormats

/// What a connection does with the lines it reads: decode, count, and gather them. Needs no
/// channel.
struct ConnectionCore: ~Copyable {
  var assembler = LineAssembler()
  var decoder = LineDecoder()
  var batches = RoomBatches()
  var clock = FrameClock.arrival
  /// How many lines were events or were rejected.
  private(set) var received = 0
  /// How many of them were rejected here.
  private(set) var rejected = 0
  /// The batch to which the lines belong; `nil` if they belong to none. They are gathered until it ends, so that
  /// each room gets its part of it as a whole.
  private(set) var position: BatchPosition?
  /// Whether the batch has grown too large: the rest of it is rejected, too.
  private var isTooLarge = false

  /// The sources whose states came, each in its room, at most ``sourceLimit``.
  private(set) var sources: [(name: Text, room: RoomName)] = []
  /// How many of them the sink knows of.
  var announcedSources = 0
  static let sourceLimit = 64

  /// The most that the lines of one batch may take in bytes of memory: enough for 64 KiB of the shortest, and for one
  /// more of the longest.
  static let batchLimit = 512 << 10

  /// Decodes some lines starting at `offset` and gathers what they say, up to the end of the slab or the
  /// next control line, which is returned.
  mutating func process(
    _ slab: ByteSlab, from offset: inout Int, atMost lines: Int, arrival: Timestamp
  ) -> ControlLine? {
    defer { limitBatch() }
    for _ in 0..<lines {
      guard let line = slab.nextLine(at: &offset) else { return nil }
      let decoded = decoder.decode(slab, line: line, arrival: arrival)
      if let control = take(decoded, line, of: slab) { return control }
    }
    return nil
  }

  /// Begins a batch, or with `nil` what belongs to none. What was gathered before must have been taken.
  mutating func begin(_ position: BatchPosition?) {
    self.position = position
    isTooLarge = false
  }

  /// The position of the batch that has been gathered, unless it is rejected.
  var gatheredPosition: BatchPosition? { isTooLarge ? nil : position }

  private mutating func limitBatch() {
    guard position != nil, isTooLarge || batches.memory > Self.batchLimit else { return }
    isTooLarge = true
    rejected += batches.rejectEvents(.batchTooLarge)
  }

  /// Rejects a batch whose sender has gone before its end: it is to be sent again.
  mutating func rejectUnfinished() {
    guard position != nil else { return }
    rejected += batches.rejectEvents(.unfinishedBatch)
    begin(nil)
  }

  /// Counts a line that was too long to be kept.
  mutating func rejectTooLong() {
    reject(.lineTooLong, room: decoder.override, bytes: 0, fault: nil)
  }

  /// Takes the unfinished line of a sender that has gone, which counts if it is complete but for its
  /// ending. If it is a control line, it is returned.
  mutating func processRest(arrival: Timestamp) -> ControlLine? {
    guard let slab = assembler.takeRest() else { return nil }
    let line = ByteSlab.Slice(offset: 0, count: slab.count)
    return take(decoder.decodeUnended(slab, line: line, arrival: arrival), line, of: slab)
  }

  @inline(__always)
  private mutating func take(
    _ decoded: consuming DecodedLine, _ line: ByteSlab.Slice, of slab: ByteSlab
  ) -> ControlLine? {
    switch consume decoded {
    case .event(let event, let room):
      received &+= 1
      if case .source(.state(let status)) = event.payload { note(status, in: room) }
      batches.add(event, to: room, bytes: line.count)
      if decoder.hasRemarks { batches.note(decoder.takeRemarks(), room: room) }
    case .rejected(let reason, let room):
      let remarks = decoder.takeRemarks()
      batches.note(remarks, room: room)
      // Found out for the first of a flood alone.
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
  private mutating func note(_ status: SourceHealth, in room: RoomReference) {
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
