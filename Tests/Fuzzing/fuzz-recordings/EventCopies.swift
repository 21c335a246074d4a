import FuzzSupport
import LiveEvents
import WireFormats

@testable import Recordings

/// Checks that events that were read from a recording can be recorded again.
struct EventCopies: ~Copyable {
  private var written: [UInt8] = []
  private var decoder = LineDecoder(ofOwnLinesUpTo: SegmentReader.longestLine)

  mutating func check(_ steps: [RecordedStep]) {
    for case .event(let event, _) in steps { check(event) }
    decoder.forgetRooms()
  }

  private mutating func check(_ event: LiveEvent) {
    written.removeAll(keepingCapacity: true)
    NativeEncoder.append(event, to: &written)
    let slab = ByteSlab(written)
    let line = ByteSlab.Slice(offset: 0, count: slab.count - 1)
    guard case .event(let again, _) = decoder.decode(slab, line: line, arrival: 8) else {
      fatalError("a written event can be read")
    }
    FuzzSupport.check("an event equals itself after writing and reading", again == event)
  }
}
