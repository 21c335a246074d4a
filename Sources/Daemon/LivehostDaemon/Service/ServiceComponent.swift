package import Logging
package import ServiceLifecycle
package import UnixSignals

/// A part of a program that starts and stops in a defined order with other parts.
package struct ServiceComponent: Sendable {
  /// Stops the part. The closure cannot throw, so it must log its own errors.
  package typealias Stop = @Sendable () async -> Void

  package let name: String
  let start: @Sendable () async throws -> Stop

  /// - Parameter start: Starts the part and returns a closure that stops it. If it throws, nothing
  ///   of the part may keep running.
  package init(_ name: String, start: @escaping @Sendable () async throws -> Stop) {
    self.name = name
    self.start = start
  }

  /// Returns a closure that cancels a task and waits for the task's end.
  static func cancelling(_ task: Task<Void, Never>) -> Stop {
    {
      task.cancel()
      await task.value
    }
  }
}

extension ServiceGroup {
  /// Creates a group that starts the parts in order, one after the other, and stops them in the
  /// order of `stopping`.
  ///
  /// If a part fails to start, the running parts are stopped in that order, too, and `run()` throws
  /// the error. If a shutdown begins while a part starts, that part is stopped after it has
  /// started, and no further part starts.
  ///
  /// - Parameter signals: The signals that shut the group down.
  package init(
    starting components: [ServiceComponent], stopping: [String], signals: [UnixSignal] = [],
    logger: Logger
  ) {
    precondition(
      components.map(\.name).sorted() == stopping.sorted(),
      "the parts to start and to stop must be the same")
    var services: [String: ComponentService] = [:]
    var previous: Gate?
    for component in components {
      let service = ComponentService(component: component, previous: previous)
      services[component.name] = service
      previous = service.hasStarted
    }
    // A service group stops its services in reverse order.
    self.init(
      configuration: ServiceGroupConfiguration(
        services: stopping.reversed().compactMap { services[$0] }.map {
          .init(
            service: $0, successTerminationBehavior: .gracefullyShutdownGroup,
            failureTerminationBehavior: .gracefullyShutdownGroup)
        },
        gracefulShutdownSignals: signals, logger: logger))
  }
}

private struct ComponentService: Service, CustomStringConvertible {
  let component: ServiceComponent
  /// The gate that the previous part opens once it has started; `nil` for the first part.
  let previous: Gate?
  let hasStarted = Gate()

  var description: String { component.name }

  func run() async throws {
    if let previous, await !previous.wait() { return }
    let stop = try await component.start()
    // The parts that stop after this part may not have been informed of a shutdown yet, and must
    // not start now.
    if !Task.isShuttingDownGracefully { hasStarted.open() }
    // If the task is cancelled, the wait throws, which also stops the part.
    try? await gracefulShutdown()
    await stop()
  }
}

/// A gate that lets one service wait for another.
private struct Gate: Sendable {
  private let stream: AsyncStream<Void>
  private let continuation: AsyncStream<Void>.Continuation

  init() { (stream, continuation) = AsyncStream.makeStream() }

  func open() { continuation.yield() }

  /// Waits for the gate to open. Returns `false` if a shutdown begins first.
  func wait() async -> Bool {
    await cancelWhenGracefulShutdown { [stream] in await stream.first { _ in true } != nil }
  }
}
