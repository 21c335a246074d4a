import Dispatch
import HangSimulation
import Simulation
import Synchronization
import Testing
import YAMLReader

/// Tests runs with far more events than the device or the service can handle.
@Suite(.timeLimit(.minutes(2))) struct LimitTests {
  /// Runs jobs in sequence and counts them.
  private final class CountingExecutor: TaskExecutor {
    private let queue = DispatchQueue(label: "counting")
    private let count = Atomic<Int>(0)

    var jobs: Int { count.load(ordering: .relaxed) }

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      count.wrappingAdd(1, ordering: .relaxed)
      queue.async { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
  }

  private static let free = ["config/devices/free.yaml": "costs: {action: 0ms}"]

  /// A scenario whose 100,000 events all arrive at the same instant, in one turn.
  private static let dammed = """
    name: dammed
    duration: 3s
    devices: [free]
    events: [{generate: chat.message, arrival: even, stages: [{rate: 50000/s, for: 2s}]}]
    faults: [{kind: stall, at: 0s, for: 2s}]
    """

  @Test func `a simulated turn that receives very many events yields repeatedly`() async throws {
    let executor = CountingExecutor()
    let report = try await withTaskExecutorPreference(executor) {
      try await simulateText(Self.dammed, extraFiles: Self.free).report
    }
    let run = try #require(report.runs.first)
    #expect(run.events.received == 100_000)
    #expect(run.faults.delayed == 100_000)
    // Creating the events takes 50 further slices in which no event arrives.
    #expect(executor.jobs > 90, "There must be a job for each 2,000 events.")
  }

  @Test func `events that are created together but never arrive are created in parts`()
    async throws
  {
    let text = """
      name: dropped
      duration: 2s
      devices: [free]
      events: [{generate: title, arrival: even, stages: [{rate: 100000/s, for: 1s}]}]
      faults: [{kind: burst, at: 0s, for: 1s, times: 1000000}, {kind: drop, at: 0s, for: 1s}]
      """
    let executor = CountingExecutor()
    let report = try await withTaskExecutorPreference(executor) {
      try await simulateText(text, extraFiles: Self.free).report
    }
    #expect(report.runs.first?.faults.dropped == 100_000)
    #expect(executor.jobs > 45, "one for each 2,000 events")
  }

  @Test func `events that are received in parts still belong to one turn`() async throws {
    let run = try #require(
      try await simulateText(Self.dammed, extraFiles: Self.free).report.runs.first)
    #expect(run.latency.max >= 2_000_000_000)
    // All events were received when the stall ended, and shown by one of the next frames.
    #expect(run.service.max < 500_000_000)
    #expect(
      run.events.received
        == run.events.applied + run.events.coalesced + run.events.rejected + run.events.pending)
  }

  private func problem(_ text: String, waiting: Int) async throws -> String? {
    var limited = try Scenario(text, options()).plan
    limited.limits.waiting = waiting
    let plan = limited
    let problem = await #expect(throws: SimulationProblem.self) {
      _ = try await plan.run()
    }
    return problem?.description
  }

  @Test
  func
    `an overloaded device ends the run with an error that names the source with the highest rate`()
    async throws
  {
    let message = try await problem(
      """
      name: flood
      duration: 10h
      devices: [fast]
      events:
        - {event: {type: stream, state: live}, at: 1s}
        - {generate: chat.message, from: 2s, rate: 1000000/s}
      """, waiting: 20_000)
    #expect(message?.hasPrefix("the device 'fast' cannot keep up: 2") == true, "\(message ?? "")")
    #expect(
      message?.hasSuffix("lower the rate of events[1], which sends up to 1,000,000 per second")
        == true, "\(message ?? "")")
  }

  @Test(arguments: [
    ("[{generate: chat.notice, kind: giftBomb, size: 10000, within: 1h, rate: 100/s}]", "[]"),
    ("[{generate: title, rate: 1000000/s}]", "[{kind: stall, at: 0s, for: 1h}]"),
    ("[{generate: title, rate: 10000/s, late: 100%, lateBy: 1h}]", "[]"),
    (
      "[{generate: title, rate: 1000000/s}]",
      "[{kind: burst, at: 0s, for: 1h, times: 1000000}, "
        + "{kind: stall, at: 0s, for: 1h}]"
    ),
  ])
  func `the number of events that a simulation holds is limited`(events: String, faults: String)
    async throws
  {
    let error = await #expect(throws: ConfigurationError.self) {
      _ = try await simulateText(
        """
        name: held
        duration: 10h
        devices: [free]
        events: \(events)
        faults: \(faults)
        """, extraFiles: Self.free)
    }
    #expect(error?.file == "test.yaml")
    #expect(
      error?.message.hasPrefix("more than 200,000 events are in flight to 'free'") == true,
      "\(error?.message ?? "")")
    #expect(error?.message.contains("lower the rate of events[0]") == true)
  }

  @Test func `events dropped by an injected fault do not count as in flight`() async throws {
    let report = try await simulateText(
      """
      name: dropped
      duration: 3s
      devices: [free]
      events: [{generate: title, arrival: even, rate: 100000/s}]
      faults: [{kind: drop, at: 0s, for: 1h}]
      """, extraFiles: Self.free
    ).report
    let run = try #require(report.runs.first)
    #expect(run.faults.dropped > 250_000)
    #expect(run.events.received == 0)
  }
}
