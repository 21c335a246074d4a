import NIOCore
import Synchronization

/// Measures for how long a lane is held without a break. Written by the lane, read by anybody.
package final class TurnMeter: Sendable {
  private let longest = Atomic<UInt64>(0)
  private let turns = Atomic<UInt64>(0)

  package init() {}

  /// The longest turn so far, in nanoseconds.
  package var longestNanoseconds: UInt64 { longest.load(ordering: .relaxed) }
  package var count: UInt64 { turns.load(ordering: .relaxed) }

  /// Runs one turn. Two clock reads; meant for batches and frames, not for events.
  func measure<R>(_ turn: () -> R) -> R {
    let start = NIODeadline.now()
    defer {
      let nanoseconds = UInt64((NIODeadline.now() - start).nanoseconds)
      longest.max(nanoseconds, ordering: .relaxed)
      turns.add(1, ordering: .relaxed)
    }
    return turn()
  }
}
