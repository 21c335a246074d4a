/// A serial executor on which a store runs. It runs one job at a time, in the order of submission.
/// A server uses its event loops as lanes. A test uses a lane that it runs manually.
public protocol Lane: Sendable {
  /// Runs `job` after all earlier jobs. Can be called from any thread and returns immediately.
  func execute(_ job: @escaping @Sendable () -> Void)

  /// The executor of effects that run on the lane. `nil` selects the shared pool.
  var taskExecutor: (any TaskExecutor)? { get }

  /// The executor of effects that do not run on the lane. `nil` selects the shared pool.
  var poolExecutor: (any TaskExecutor)? { get }

  /// Returns the executor of one effect on the lane, by default ``taskExecutor``. A lane can use
  /// the name to record which effect is running, each time that the effect resumes.
  func taskExecutor(named effect: String) -> (any TaskExecutor)?
}

extension Lane {
  public var poolExecutor: (any TaskExecutor)? { nil }
  public func taskExecutor(named effect: String) -> (any TaskExecutor)? { taskExecutor }
}
