import Composable

/// A lane that runs each job at once, on the calling thread.
///
/// Suitable for tests without effects. Use a ``ManualLane`` to decide when effects run.
package struct DirectLane: Lane {
  package init() {}

  package var taskExecutor: (any TaskExecutor)? { nil }

  package func execute(_ job: @escaping @Sendable () -> Void) { job() }
}
