/// What a store runs on: it runs jobs one after the other, in the order given.
///
/// A server makes its event loops lanes, a test uses one that it drives by hand.
public protocol Lane: Sendable {
  /// Runs `job` after those given before it. Callable from any thread; returns at once.
  func execute(_ job: @escaping @Sendable () -> Void)

  /// The executor of effects that run on the lane; `nil` leaves them to the shared pool.
  var taskExecutor: (any TaskExecutor)? { get }

  /// The executor of effects that do not run on the lane; `nil` leaves them to the shared pool.
  var poolExecutor: (any TaskExecutor)? { get }

  /// The executor of one effect that runs on the lane, for lanes that record which effect occupies them,
  /// each time that it resumes. By default ``taskExecutor``.
  func taskExecutor(named effect: String) -> (any TaskExecutor)?
}

extension Lane {
  public var poolExecutor: (any TaskExecutor)? { nil }
  public func taskExecutor(named effect: String) -> (any TaskExecutor)? { taskExecutor }
}
