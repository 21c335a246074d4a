import LiveEvents

/// Counts the effects of faults.
package struct FaultCounts: Hashable, Sendable {
  package var dropped = 0
  package var duplicated = 0
  package var delayed = 0
}

/// What goes wrong between the sources and the screen.
struct FaultStage {
  private static let duplicateDelay = 500_000_000

  private let faults: [Fault]
  private var random: SeededGenerator
  private(set) var counts = FaultCounts()

  init(_ faults: [Fault], random: SeededGenerator) {
    self.faults = faults
    self.random = random
  }

  var isEmpty: Bool { faults.isEmpty }

  /// When a source is due. Bursts bring that forward.
  func occasion(_ time: VirtualTime) -> VirtualTime {
    var time = time
    for fault in faults where fault.covers(time) {
      guard case .burst(let times) = fault.kind else { continue }
      let offset = (time - fault.start).nanoseconds / Int64(times)
      time = fault.start + VirtualTime(nanoseconds: offset)
    }
    return time
  }

  /// Passes an event on that should arrive at `time`: calls `deliver` once, not at all, or twice.
  mutating func pass(
    _ event: LiveEvent, at time: VirtualTime, _ deliver: (Delivery, VirtualTime) -> Void
  ) {
    let intended = occasion(time)
    let delivery = Delivery(event: event, intended: intended)
    var arrival = intended
    var copies: [VirtualTime] = []
    for fault in faults {
      switch fault.kind {
      case .burst: break
      case .drop(let share):
        if fault.covers(time), strikes(share) {
          counts.dropped += 1
          return
        }
      case .stall:
        if fault.covers(arrival) { arrival = fault.end }
      case .reorder(let by):
        if fault.covers(time) {
          arrival += VirtualTime(nanoseconds: Int64(random.integer(in: 0...Int(by.nanoseconds))))
        }
      case .duplicate(let share):
        if fault.covers(time), strikes(share) {
          let delay = random.integer(in: 0...Self.duplicateDelay)
          copies.append(arrival + VirtualTime(nanoseconds: Int64(delay)))
        }
      case .reconnect(let replay):
        if fault.covers(arrival) {
          arrival = fault.end
        } else if arrival < fault.start, !(arrival < fault.start - replay) {
          copies.append(fault.end)
        }
      }
    }
    if intended < arrival { counts.delayed += 1 }
    deliver(delivery, arrival)
    counts.duplicated += copies.count
    for copy in copies { deliver(Delivery(event: event, intended: copy), copy) }
  }

  private mutating func strikes(_ share: Int64) -> Bool { random.integer(in: 0...999) < Int(share) }
}
