/// The numbers of events that faults affected.
public struct FaultCounts: Hashable, Sendable {
  /// Events that were lost.
  public var dropped = 0
  /// Events that were delivered again.
  public var duplicated = 0
  /// Events that arrived late.
  public var delayed = 0

  /// Creates counts of zero.
  public init() {}
}

/// Applies the faults between the sources and the screen.
@usableFromInline
struct FaultStage {
  private static let duplicateDelay = 500_000_000

  private let faults: [Fault]
  private var random: SeededGenerator
  @usableFromInline private(set) var counts = FaultCounts()
  @usableFromInline let isEmpty: Bool

  @usableFromInline
  init(_ faults: [Fault], random: SeededGenerator) {
    self.faults = faults
    self.random = random
    isEmpty = faults.isEmpty
  }

  /// Returns the time of a source's occasion after bursts were applied.
  @inlinable
  func occasion(_ time: VirtualTime) -> VirtualTime { isEmpty ? time : hastened(time) }

  @usableFromInline
  func hastened(_ time: VirtualTime) -> VirtualTime {
    var time = time
    for fault in faults where fault.covers(time) {
      guard case .burst(let times) = fault.kind else { continue }
      let offset = (time - fault.start).nanoseconds / Int64(times)
      time = fault.start + VirtualTime(nanoseconds: offset)
    }
    return time
  }

  /// Returns the arrivals of an event that should arrive at `time`: none, one, or several.
  @usableFromInline
  mutating func pass(at time: VirtualTime) -> [(intended: VirtualTime, arrival: VirtualTime)] {
    let intended = occasion(time)
    var arrival = intended
    var copies: [VirtualTime] = []
    for fault in faults {
      switch fault.kind {
      case .burst: break
      case .drop(let share):
        if fault.covers(time), happens(withShare: share) {
          counts.dropped += 1
          return []
        }
      case .stall:
        if fault.covers(arrival) { arrival = fault.end }
      case .reorder(let by):
        if fault.covers(time) {
          arrival += VirtualTime(nanoseconds: Int64(random.integer(in: 0...Int(by.nanoseconds))))
        }
      case .duplicate(let share):
        if fault.covers(time), happens(withShare: share) {
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
    counts.duplicated += copies.count
    return [(intended, arrival)] + copies.map { ($0, $0) }
  }

  private mutating func happens(withShare share: Int64) -> Bool {
    random.integer(in: 0...999) < Int(share)
  }
}
