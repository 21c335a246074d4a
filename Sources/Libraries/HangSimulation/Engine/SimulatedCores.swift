/// The processor cores on which effects compute. The screen's thread has one core, and effects have
/// the others. On a device with a single core, effects compute while the thread is idle, because
/// the person waits for the screen first. Effects that compute concurrently alternate in slices,
/// like cooperative tasks.
final class SimulatedCores: @unchecked Sendable {
  /// The longest time that an effect computes before it yields to others.
  static let slice = VirtualTime.milliseconds(1)

  private let waits: SimulatedWaits
  /// The time at which each core becomes free.
  private var free: [VirtualTime]
  /// Returns the time until which the screen's thread is busy; `nil` if effects do not share its
  /// core.
  private let screenIsFree: (() -> VirtualTime)?

  init(_ count: Int, _ waits: SimulatedWaits, screenIsFree: @escaping () -> VirtualTime) {
    self.waits = waits
    free = Array(repeating: .zero, count: max(1, count - 1))
    self.screenIsFree = count == 1 ? screenIsFree : nil
  }

  /// Computes for a duration, in slices. `queued` receives the time for which the first slice waits
  /// for a core. Throws `CancellationError` at the end of a slice.
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

  /// Occupies a core for the real work of an effect, so that later computations wait longer.
  func occupy(_ work: VirtualTime) { _ = reserve(work) }

  /// Reserves the next slice on the core that becomes free first.
  private func reserve(_ slice: VirtualTime) -> (start: VirtualTime, end: VirtualTime) {
    let core = free.indices.min { free[$0] < free[$1] } ?? 0
    let start = max(free[core], waits.now, screenIsFree?() ?? .zero)
    free[core] = start + slice
    return (start, free[core])
  }
}
