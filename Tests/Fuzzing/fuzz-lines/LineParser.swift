import FuzzSupport
import LiveEvents
import WireFormats

/// Reads lines as an ingest connection does.
final class LineParser: Parser {
  /// The result of a line, independent of its decoder.
  private enum Outcome: Equatable {
    case event(LiveEvent, room: RoomName)
    case rejected(RejectionReason, room: RoomName?)
    case sync(Text)
    case position(BatchPosition)
    case options(ConnectionOptions)
    case blank

    init(_ line: DecodedLine, name: (RoomReference) -> RoomName) {
      switch line {
      case .event(let event, let room): self = .event(event, room: name(room))
      case .rejected(let reason, let room): self = .rejected(reason, room: room.map(name))
      case .control(.sync(let token)): self = .sync(token)
      case .control(.position(let position)): self = .position(position)
      case .control(.options(let options)): self = .options(options)
      case .blank: self = .blank
      }
    }
  }

  /// The maximum length of a recorded line, as a multiple of the length of the original line.
  private static let growth = 8

  /// The maximum number of bytes that recording adds to a line of any length: the members that
  /// every recorded line has, and a default name. The default name is the identifier, with six
  /// bytes for a control character.
  private static let added = 512 + 6 * EventLimits.nameLength

  private let format: WireFormat?
  private var decoder = LineDecoder()
  private var single = LineDecoder()
  private var recorded = LineDecoder(
    maximumLineLength: LineParser.growth * LineDecoder.maximumLineLength)
  private var written: [UInt8] = []

  /// - Parameter format: the format of all lines, or nil to detect the format of each line.
  init(_ format: WireFormat?) { self.format = format }

  func read(_ bytes: UnsafeBufferPointer<UInt8>) {
    decoder.format = format
    single.format = format
    let slab = ByteSlab(bytes)
    var offset = 0
    while let line = slab.nextLine(at: &offset) { read(slab, line) }
    let rest = ByteSlab.Slice(offset: offset, count: slab.count - offset)
    _ = decoder.decodeUnended(slab, line: rest, arrival: 7)
    decoder.overrideRoom(nil)
    single.overrideRoom(nil)
    // Resetting the table of rooms costs more than reading a line, and few inputs name rooms.
    if decoder.roomCount > 1 { decoder.forgetRooms() }
    if single.roomCount > 1 { single.forgetRooms() }
    if recorded.roomCount > 1 { recorded.forgetRooms() }
  }

  private func read(_ slab: ByteSlab, _ line: ByteSlab.Slice) {
    let outcome = Outcome(decoder.decode(slab, line: line, arrival: 7)) { decoder.name(of: $0) }
    let alone = slab.withBytes(of: line) { ByteSlab($0) }
    let whole = ByteSlab.Slice(offset: 0, count: alone.count)
    check(
      "the result of a line does not depend on other lines",
      outcome == Outcome(single.decode(alone, line: whole, arrival: 7)) { single.name(of: $0) })
    switch outcome {
    case .event(let event, let room): write(event, room, length: line.count)
    case .options(let options):
      if let room = options.room {
        decoder.overrideRoom(room)
        single.overrideRoom(room)
      }
      if let format = options.format {
        decoder.format = format
        single.format = format
      }
    case .rejected, .sync, .position, .blank: break
    }
  }

  /// Writes an event as a recording does, and reads the event again.
  private func write(_ event: LiveEvent, _ room: RoomName, length: Int) {
    written.removeAll(keepingCapacity: true)
    NativeEncoder.append(event, room: room, to: &written)
    check("a written event is one line", written.firstIndex(of: 0x0A) == written.count - 1)
    check(
      "the length of a written line is bounded by the length of the original line",
      written.count <= Self.growth * length + Self.added)
    let slab = ByteSlab(written)
    let line = ByteSlab.Slice(offset: 0, count: slab.count - 1)
    let again = Outcome(recorded.decode(slab, line: line, arrival: 8)) { recorded.name(of: $0) }
    check("an event equals itself after writing and reading", again == .event(event, room: room))
  }
}
