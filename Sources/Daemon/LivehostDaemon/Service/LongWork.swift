import Platform
package import Systemd

/// Tells the service manager how far the start or the stop is, and asks it for more time while
/// there is progress. Without progress the manager's time-out ends the daemon.
package final class LongWork: Sendable {
  /// How long the manager is asked to wait for the next sign of progress.
  package static let patienceMicroseconds: UInt64 = 15_000_000

  private struct State: Sendable {
    var step = ""
    var stepCount = 0
    var reported: Measure?
  }

  /// How far the work is; progress is a change of it.
  private struct Measure: Equatable {
    let step: Int
    let left: Int
  }

  private let notifier: ServiceNotifier
  private let title: String
  private let left: @Sendable () -> Int
  private let unit: String
  private let state = Guarded(State())

  /// - Parameters:
  ///   - title: what is done, such as `stopping`.
  ///   - left: how much is left to do in the present step.
  ///   - unit: what `left` counts, such as `events`.
  package init(
    _ title: String, notifier: ServiceNotifier, unit: String = "",
    left: @escaping @Sendable () -> Int = { 0 }
  ) {
    self.title = title
    self.notifier = notifier
    self.unit = unit
    self.left = left
  }

  /// Does one step, and reports progress once a second.
  package func step<R>(
    _ name: String, isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> R
  ) async rethrows -> R {
    begin(name)
    report()
    let ticks = Task {
      while true {
        try await Task.sleep(nanoseconds: 1_000_000_000)
        report()
      }
    }
    defer { ticks.cancel() }
    return try await body()
  }

  private func begin(_ name: String) {
    state.withLock {
      $0.step = name
      $0.stepCount += 1
    }
  }

  /// Reports progress to the service manager since the last time, if there is any.
  package func report() {
    let left = left()
    let step: String? = state.withLock { state in
      let measure = Measure(step: state.stepCount, left: left)
      guard measure != state.reported else { return nil }
      state.reported = measure
      return state.step
    }
    guard let step else { return }
    let rest = left > 0 ? ", \(left) \(unit) left" : ""
    // A manager that does not listen does not count the time either.
    try? notifier.status("\(title): \(step)\(rest)")
    try? notifier.extendTimeout(microseconds: Self.patienceMicroseconds)
  }
}
