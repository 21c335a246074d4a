/// The cores of a device that effects compute on.
///
/// The screen's thread has one core, and the effects have the others. Where there is only one, effects compute
/// while the thread is idle, since what a person waits for comes first. Effects that compute at the same time
/// take turns of one slice, as cooperative tasks do.
final class SimulatedCores: @unchecked Sendable {
  /// How long an effect computes before it lets others go on, at most.
  static let slice = VirtualTime.milliseconds(1)

  private let waits: SimulatedWaits
  /// When each core is free.
  private var free: [VirtualTime]
  /// Until when the thread of the screen works, if effects share its core.
  private let screenIsFree: (() -> VirtualTime)?

  /// - Parameter screenIsFree: until when the thread of the screen is known to work.
  init(_ count: Int, _ waits: SimulatedWaits, screenIsFree: @escaping () -> VirtualTime) {
    self.waits = waits
    free = Array(repeating: .zero, count: max(1, count - 1))
    self.screenIsFree = count == 1 ? screenIsFree : nil
  }

  /// Computes for this long, in slices.
  ///
  /// - Parameter queued: told how long the first slice waits for a core.
  /// - Throws: `CancellationError`, at the end of a slice.
  func compute(_ cost: VirtualTime, queued: (VirtualTime) -> Void) async throws {
    var left = cost
    while left > .zero {
      let slice = min(left, Self.slice)
      let (start, end) = reserve(slice)
      if left == cost { queued(start - waits.now) }
      try await waits.wait(until: end)
      left = left - slice
    }
  }

  /// Occupies a core for work that an effect has really done, so that what computes afterwards waits longer.
  func occupy(_ work: VirtualTime) { _ = reserve(work) }

  /// The next slice of the core that is free first.
  private func reserve(_ slice: VirtualTime) -> (start: VirtualTime, end: VirtualTime) {
    let core = free.indices.min { free[$0] < free[$1] } ?? 0
    let start = max(free[core], waits.now, screenIsFree?() ?? .zero)
    free[core] = start + slice
    return (start, free[core])
  }
}
