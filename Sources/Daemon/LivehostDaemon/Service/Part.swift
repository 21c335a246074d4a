package import Logging
package import ServiceLifecycle
package import UnixSignals

/// A part of a program: started after some parts, stopped before others.
package struct Part: Sendable {
  /// Stops what was started. Must not fail: whatever can go wrong by then is logged.
  package typealias Stop = @Sendable () async -> Void

  package let name: String
  let start: @Sendable () async throws -> Stop

  /// - Parameter start: Starts the part and returns how to stop it. If it throws, there is nothing to
  ///   stop.
  package init(_ name: String, start: @escaping @Sendable () async throws -> Stop) {
    self.name = name
    self.start = start
  }

  /// Stops a part that is a task which runs until it is cancelled.
  static func cancelling(_ task: Task<Void, Never>) -> Stop {
    {
      task.cancel()
      await task.value
    }
  }
}

extension ServiceGroup {
  /// A group that starts parts one after the other, and stops them one after the other.
  ///
  /// A part starts once the one before it has started. If it cannot, those that have started are
  /// stopped, in their order, and `run()` throws its error. The same holds for a shutdown that comes
  /// while a part starts: that part is stopped once it has started, and no other is started.
  /// - Parameters:
  ///   - parts: In the order in which they start.
  ///   - stopping: Their names, in the order in which they stop.
  ///   - signals: Those that shut the group down.
  package init(
    starting parts: [Part], stopping: [String], signals: [UnixSignal] = [], logger: Logger
  ) {
    precondition(parts.map(\.name).sorted() == stopping.sorted(), "each part starts and stops")
    var services: [String: PartService] = [:]
    var previous: Gate?
    for part in parts {
      let service = PartService(part: part, previous: previous)
      services[part.name] = service
      previous = service.hasStarted
    }
    // A group stops its services in the reverse of their order.
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

private struct PartService: Service, CustomStringConvertible {
  let part: Part
  /// Opened by the part that starts before this one; nil for the first.
  let previous: Gate?
  let hasStarted = Gate()

  var description: String { part.name }

  func run() async throws {
    if let previous, await !previous.wait() { return }
    let stop = try await part.start()
    // A part that stops after this one has not been told of a shutdown yet: it must not start.
    if !Task.isShuttingDownGracefully { hasStarted.open() }
    // Throws if the task is cancelled, which ends the part as well.
    try? await gracefulShutdown()
    await stop()
  }
}

/// Lets one service wait for another.
private struct Gate: Sendable {
  private let stream: AsyncStream<Void>
  private let continuation: AsyncStream<Void>.Continuation

  init() { (stream, continuation) = AsyncStream.makeStream() }

  func open() { continuation.yield() }

  /// Returns `true` once the gate is open, `false` if the service is to stop before that.
  func wait() async -> Bool {
    await cancelWhenGracefulShutdown { [stream] in await stream.first { _ in true } != nil }
  }
}
