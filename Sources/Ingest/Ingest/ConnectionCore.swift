import LiveEvents
import WireFormats

/// What a connection does with the lines that it reads: decode, count, gather. No channel.
struct ConnectionCore: ~Copyable {
  var assembler = LineAssembler()
  var decoder = LineDecoder()
  var batches = RoomBatches()
  var clock = FrameClock.arrival
  /// Lines that were events or were rejected.
  private(set) var received = 0
  /// Those of them that were rejected here.
  private(set) var rejected = 0

  /// Decodes lines from `offset` on and gathers what they say, until a control line comes, which is
  /// returned, or the slab ends.
  mutating func process(
    _ slab: ByteSlab, from offset: inout Int, arrival: Timestamp
  ) -> ControlLine? {
    while let line = slab.nextLine(at: &offset) {
      let decoded = decoder.decode(slab, line: line, arrival: arrival)
      if let control = take(decoded, bytes: line.count) { return control }
    }
    return nil
  }

  /// Counts a line that was too long to be kept.
  mutating func rejectTooLong() {
    _ = take(.rejected(.lineTooLong, room: decoder.override), bytes: 0)
  }

  /// Takes what a sender left behind in the middle of a line. Control lines among it do nothing.
  mutating func processRest(arrival: Timestamp) {
    guard let slab = assembler.takeRest() else { return }
    let line = ByteSlab.Slice(offset: 0, count: slab.count)
    _ = take(decoder.decodeUnended(slab, line: line, arrival: arrival), bytes: slab.count)
  }

  @inline(__always)
  private mutating func take(_ line: consuming DecodedLine, bytes: Int) -> ControlLine? {
    switch consume line {
    case .event(let event, let room):
      received &+= 1
      batches.add(event, to: room, bytes: bytes)
    case .rejected(let reason, let room):
      received += 1
      rejected += 1
      batches.reject(reason, room: room, bytes: bytes)
    case .control(let control): return control
    case .blank: break
    }
    return nil
  }
}
