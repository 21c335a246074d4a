import LivehostDaemon
import Logging
import ServiceLifecycle
import Synchronization
import Testing

/// The order in which the parts of a service start and stop.
@Suite(.timeLimit(.minutes(1))) struct ServiceComponentTests {
  private struct Refusal: Error {}

  /// A log of what the parts did, and parts that write to this log.
  private final class Log: Sendable {
    private let lines = Mutex<[String]>([])

    func record(_ line: String) { lines.withLock { $0.append(line) } }
    var all: [String] { lines.withLock { $0 } }

    func part(
      _ name: String, starting: @escaping @Sendable () async throws -> Void = {}
    ) -> ServiceComponent {
      ServiceComponent(name) { [self] in
        try await starting()
        record("start \(name)")
        return { self.record("stop \(name)") }
      }
    }
  }

  private let log = Log()

  private func group(_ components: [ServiceComponent], stopping: [String]) -> ServiceGroup {
    ServiceGroup(
      starting: components, stopping: stopping,
      logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
  }

  @Test func `parts of the service start one after another and stop in another fixed order`()
    async throws
  {
    let (ready, isReady) = AsyncStream.makeStream(of: Void.self)
    let group = group(
      [
        log.part("loops"), log.part("rooms"), log.part("control"),
        log.part("readiness") { isReady.yield() },
      ],
      stopping: ["readiness", "rooms", "control", "loops"])
    let end = Task { try await group.run() }
    for await _ in ready { break }
    await group.triggerGracefulShutdown()
    try await end.value
    #expect(
      log.all == [
        "start loops", "start rooms", "start control", "start readiness", "stop readiness",
        "stop rooms", "stop control", "stop loops",
      ])
  }

  @Test func `a part of the service that fails to start stops all running parts in their order`()
    async throws
  {
    let group = group(
      [
        log.part("loops"), log.part("rooms"), log.part("ingest"),
        log.part("control") { throw Refusal() }, log.part("readiness"),
      ],
      stopping: ["readiness", "ingest", "rooms", "control", "loops"])
    await #expect(throws: Refusal.self) { try await group.run() }
    #expect(
      log.all == [
        "start loops", "start rooms", "start ingest", "stop ingest", "stop rooms", "stop loops",
      ])
  }

  @Test
  func `a part that starts during a stop is stopped after its start, and no other part starts`()
    async throws
  {
    let (begun, hasBegun) = AsyncStream.makeStream(of: Void.self)
    let group = group(
      [
        log.part("loops"),
        log.part("rooms") {
          hasBegun.yield()
          // Returns when this part is asked to stop, which happens after the parts before it have
          // stopped.
          try await gracefulShutdown()
        },
        log.part("control"), log.part("readiness"),
      ],
      stopping: ["readiness", "rooms", "control", "loops"])
    let end = Task { try await group.run() }
    for await _ in begun { break }
    await group.triggerGracefulShutdown()
    try await end.value
    #expect(log.all == ["start loops", "start rooms", "stop rooms", "stop loops"])
  }

  @Test
  func `a part that fails to stop does not prevent the other parts from stopping`()
    async throws
  {
    let (begun, hasBegun) = AsyncStream.makeStream(of: Void.self)
    let group = group(
      [
        log.part("loops"),
        log.part("rooms") {
          hasBegun.yield()
          try await gracefulShutdown()
          throw Refusal()
        },
        log.part("readiness"),
      ],
      stopping: ["readiness", "rooms", "loops"])
    let end = Task { try await group.run() }
    for await _ in begun { break }
    await group.triggerGracefulShutdown()
    await #expect(throws: Refusal.self) { try await end.value }
    #expect(log.all == ["start loops", "stop loops"])
  }
}
