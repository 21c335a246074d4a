import Locking
import SystemSupport
package import Systemd

/// Reports the progress of the start or the stop to the service manager.
///
/// Each report of progress also extends the manager's timeout. Without progress, the timeout
/// expires and the manager kills the daemon.
package final class LongWork: Sendable {
  /// The timeout that each report requests from the service manager.
  package static let patienceMicroseconds: UInt64 = 15_000_000

  private struct State: Sendable {
    var step = ""
    var stepCount = 0
    var reported: ProgressFigures?
  }

  /// The progress of the work. A report follows if any member has changed.
  private struct ProgressFigures: Equatable {
    let step: Int
    let left: Int
  }

  private let notifier: ServiceNotifier
  private let title: String
  private let left: @Sendable () -> Int
  private let unit: String
  private let state = Guarded(State())

  /// - Parameters:
  ///   - title: The name of the work, such as `stopping`.
  ///   - unit: The unit of `left`, such as `events`.
  ///   - left: Returns the amount of work left in the current step.
  package init(
    _ title: String, notifier: ServiceNotifier, unit: String = "",
    left: @escaping @Sendable () -> Int = { 0 }
  ) {
    self.title = title
    self.notifier = notifier
    self.unit = unit
    self.left = left
  }

  /// Runs `body` as a step, and reports progress at its beginning and once a second.
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

  /// Reports to the service manager if there was progress since the previous report.
  package func report() {
    let left = left()
    let step: String? = state.withLock { state in
      let measure = ProgressFigures(step: state.stepCount, left: left)
      guard measure != state.reported else { return nil }
      state.reported = measure
      return state.step
    }
    guard let step else { return }
    let rest = left > 0 ? ", \(left) \(unit) left" : ""
    // Failures are ignored, because a manager that does not receive messages applies no timeout.
    try? notifier.status("\(title): \(step)\(rest)")
    try? notifier.extendTimeout(microseconds: Self.patienceMicroseconds)
  }
}
