import Composable
import Foundation
import HangCommand
import HangSimulation
import JSON
import Synchronization
import Testing
import ViewGraph

/// A list whose view or reducer does work for each row.
@Reducer
struct Rows {
  /// The work per row, in nanoseconds.
  struct Work: Equatable, Sendable {
    var inView = 0
    var inReducer = 0
    /// The work per row of another thread for which the reducer waits, in nanoseconds.
    var waiting = 0
  }

  @ObservableState
  struct State: Equatable, Sendable {
    var rows: [Int] = []
    /// A collection that grows half as fast as `rows`.
    var others: Set<Int> = []
    var work = Work()
  }

  enum Action: Sendable {
    case added(Int)
    /// An action that keeps the number of rows.
    case replaced
    /// Works for each row.
    case resized(to: Int)
    case ticked
  }

  func reduce(into state: inout State, action: Action) -> Effect<Action> {
    switch action {
    case .added(let number):
      state.rows.append(number)
      if number.isMultiple(of: 7) { state.others.insert(number * number % 101) }
    case .replaced: state.rows = [(state.rows.first ?? 0) + 1]
    case .resized(let count):
      state.rows = Array(0..<count)
      burn(state.work.inReducer * count)
      waitForThread(working: state.work.waiting * count)
    case .ticked: burn(state.work.inReducer * state.rows.count)
    }
    return .none
  }
}

/// Computes for this amount of processor time, so that the load of the machine does not matter.
func burn(_ nanoseconds: Int) {
  func now() -> Int {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return time.tv_sec * 1_000_000_000 + time.tv_nsec
  }
  let end = now() + nanoseconds
  if nanoseconds > 0 { while now() < end {} }
}

/// Waits until another thread has computed for this amount of processor time.
func waitForThread(working nanoseconds: Int) {
  guard nanoseconds > 0 else { return }
  let done = DispatchSemaphore(value: 0)
  DispatchQueue.global().async {
    burn(nanoseconds)
    done.signal()
  }
  done.wait()
}

struct RowsView: View {
  static let name = "RowsView"
  func body(_ state: Observed<Rows.State>, _ context: ViewContext) -> ViewNode {
    burn(state.work.inView * state.rows.count)
    return .text("\(state.rows.count)")
  }
}

@Suite(.timeLimit(.minutes(5))) struct GrowthTests {
  private func report(
    _ work: Rows.Work, rows: Int, on devices: [Device]? = nil
  ) async throws -> SimulationReport {
    try await plan(work, rows: rows, on: devices).run().report
  }

  /// - Parameter rows: The number of rows that arrive within ten seconds.
  private func plan(
    _ work: Rows.Work, rows: Int, on devices: [Device]? = nil, milliseconds: Int64 = 10_000
  ) -> SimulationPlan {
    let screen = SimulatedScreen<Rows.Action>(
      RowsView(), state: { Rows.State(work: work) },
      reducer: { (_: SimulatedWorld) in Rows() }, on: { (action: Rows.Action) in [action] })
    let added: [EventStream<Rows.Action>] =
      rows > 0
      ? [.every(.milliseconds(10_000 / rows)) { .added($0.integer(in: 0...9_999)) }]
      : [.every(.milliseconds(100)) { _ in .replaced }]
    return SimulationPlan(
      "rows", duration: .milliseconds(milliseconds), devices: devices ?? [phone()],
      variants: [
        screen.variant("default", events: added + [.every(.milliseconds(100)) { _ in .ticked }])
      ])
  }

  private func phone(element: Duration = .zero) -> Device {
    Device(
      "phone",
      costs: DeviceProfile.Costs(
        action: .microseconds(10), element: element, view: .cost(.microseconds(100))))
  }

  /// Simulates actions that contain a number of rows and resize the list to it. Returns the fields
  /// whose growth was found, and the number of runs.
  private func resize(
    _ events: EventStream<Rows.Action>, _ work: Rows.Work = Rows.Work(inReducer: 2_000),
    on device: Device
  ) async throws -> (fields: [String], runs: Int) {
    let runs = Mutex(0)
    let screen = SimulatedScreen<Rows.Action>(
      RowsView(),
      state: {
        runs.withLock { $0 += 1 }
        return Rows.State(work: work)
      },
      elements: { (action: Rows.Action) in
        if case .resized(let count) = action { count } else { 0 }
      },
      reducer: { (_: SimulatedWorld) in Rows() }, on: { (action: Rows.Action) in [action] })
    let report = try await screen.simulate([events], on: [device], for: .seconds(10))
    return (report.growth.map(\.field), runs.withLock { $0 })
  }

  private let rising = EventStream<Rows.Action>.recorded(
    (1...99).map { (.milliseconds(100 * $0), .resized(to: 2 * $0)) })

  @Test func `a run is repeated if its growth could be caused by a rising load of the machine`()
    async throws
  {
    let random = EventStream<Rows.Action>.every(.milliseconds(100)) {
      .resized(to: $0.integer(in: 0...200))
    }
    let elements = [GrowthFinding.elements]
    #expect(try await resize(rising, on: phone()) == (elements, 3))
    #expect(try await resize(random, on: phone()) == (elements, 1))
  }

  @Test func `growth that the costs of a device already include is not reported or measured again`()
    async throws
  {
    let (most, less) = (phone(element: .microseconds(4)), phone(element: .microseconds(1)))
    #expect(try await resize(rising, on: most) == ([], 1))
    #expect(try await resize(rising, on: less) == ([GrowthFinding.elements], 3))
  }

  @Test func `time in which the thread does not run is not counted as work`() async throws {
    #expect(try await resize(rising, Rows.Work(waiting: 20_000), on: phone()).fields == [])
  }

  @Test(arguments: [(1_000, 1_000), (10_000, 250), (100_000, 50)])
  func `growing work in a view's body is found with its cost per row`(
    perRow: Int, rows: Int
  ) async throws {
    let report = try await report(Rows.Work(inView: perRow), rows: rows)
    let finding = try #require(report.growth.first)
    #expect(report.growth.count == 1)
    #expect(finding.kind == .view)
    #expect(finding.name == "RowsView")
    #expect(finding.field == "rows")
    #expect(finding.order == .linear)
    let ratio = finding.perElement / .nanoseconds(perRow)
    #expect((0.75...1.25).contains(ratio), "\(finding.perElement) for \(perRow) ns")
    #expect(finding.sizes.upperBound >= rows * 9 / 10)
  }

  @Test func `growing work in a reducer is found with the action that causes it`() async throws {
    let report = try await report(Rows.Work(inReducer: 2_000), rows: 500)
    let finding = try #require(report.growth.first)
    #expect(report.growth.count == 1)
    #expect(finding.kind == .action)
    #expect(finding.name == "ticked")
    #expect(finding.field == "rows")
    #expect((0.75...1.25).contains(finding.perElement / .nanoseconds(2_000)))
  }

  @Test func `constant work is not reported as growing`() async throws {
    #expect(try await report(Rows.Work(), rows: 1_000).growth.isEmpty)
  }

  @Test func `growing work is projected to each device by the device's slowdown`() async throws {
    let phone = self.phone()
    let report = try await report(
      Rows.Work(inView: 10_000), rows: 250, on: [phone, phone.slowed(by: 2)])
    let finding = try #require(report.growth.first)
    #expect(report.growth.count == 1)
    try #require(finding.projected.map(\.device) == ["phone", "phone x 2"])
    #expect(finding.projected.map(\.size) == [251, 251])
    let ratio = finding.projected[1].work / finding.projected[0].work
    #expect((1.99...2.01).contains(ratio))
  }

  @Test func `reports are compared without their measured figures`() async throws {
    let one = try await report(Rows.Work(inView: 10_000), rows: 100)
    var other = one
    other.growth = []
    #expect(one == other)
    #expect(one.hashValue == other.hashValue)
    #expect(one.digest == other.digest)
    #expect(one.json != other.json)
    #expect(one.json.contains(#""growth":[{"variant":"default","kind":"view","name":"RowsView""#))
    #expect(one.lines.contains { $0.contains("view RowsView grows with rows") })
    #expect(one.html.contains("view RowsView grows with rows"))
  }

  @Test func `a threshold can limit the growth of work`() async throws {
    let growing = try await report(Rows.Work(inView: 10_000), rows: 100)
    let sound = try await report(Rows.Work(), rows: 100)
    for (condition, expected) in [
      ("growth == 0", (false, true)), ("view(RowsView).growth < 1us", (false, true)),
      ("view(RowsView).growth < 20us", (true, true)),
    ] {
      #expect(try growing.meets(condition) == expected.0, "\(condition)")
      #expect(try sound.meets(condition) == expected.1, "\(condition)")
    }
  }

  @Test func `a threshold can name the action whose growth it limits`() async throws {
    let growing = try await report(Rows.Work(inReducer: 10_000), rows: 100)
    let sound = try await report(Rows.Work(), rows: 100)
    for (condition, expected) in [
      ("action(ticked).growth < 1us", (false, true)),
      ("action(ticked).growth < 20us", (true, true)),
      ("action(added).growth < 1us", (true, true)),
    ] {
      #expect(try growing.meets(condition) == expected.0, "\(condition)")
      #expect(try sound.meets(condition) == expected.1, "\(condition)")
    }
    let problem = #expect(throws: ThresholdProblem.self) {
      try sound.meets("action(tickd).growth < 1us")
    }
    #expect(problem?.message == "there is no action 'tickd'; did you mean 'ticked'?")
  }

  @Test func `a missed threshold on growth names the work that grows`() async throws {
    var plan = plan(Rows.Work(inReducer: 10_000), rows: 100)
    plan.thresholds = [try Threshold("action(ticked).growth < 1us for phone")]
    let report = try await plan.run().report
    let failure = try #require(report.thresholds.first?.failures.first)
    #expect(failure.explanation.count == 1)
    #expect(failure.explanation.first?.hasPrefix("action ticked grows with rows: ") == true)
  }

  @Test(arguments: [
    (100, 500, "RowsView was measured 6 times; growth needs 12"),
    (0, 10_000, "no collection changed its size enough to judge the growth of RowsView"),
  ])
  func `a threshold on growth without measurements is not met`(
    rows: Int, milliseconds: Int64, reason: String
  ) async throws {
    var plan = plan(Rows.Work(), rows: rows, milliseconds: milliseconds)
    plan.thresholds = [try Threshold("view(RowsView).growth < 1us")]
    let report = try await plan.run().report
    #expect(report.growth.isEmpty)
    #expect(report.thresholds.first?.isMissed == true)
    #expect(report.thresholds.first?.failures.first?.value == "nothing to check (\(reason))")
  }

  @Test func `a JUnit file lists growing work only if measured figures are requested`() async throws
  {
    var plan = plan(Rows.Work(inView: 10_000), rows: 100)
    plan.thresholds = [try Threshold("hangs == 0")]
    let without = try await plan.run().report
    #expect(!without.growth.isEmpty)
    #expect(!CommandOutcome(without).junit.contains("system-out"))
    #expect(CommandOutcome(without).junit == CommandOutcome(try await plan.run().report).junit)
    let line = "<system-out>default: view RowsView grows with rows: "
    plan.thresholds.append(try Threshold("view(RowsView).growth < 1s"))
    let gated = CommandOutcome(try await plan.run().report)
    #expect(gated.missed.isEmpty)
    #expect(gated.junit.contains(#"tests="2" failures="0""#))
    #expect(gated.junit.contains(line))
    plan.thresholds = []
    plan.measuredRepeats = 1
    #expect(CommandOutcome(try await plan.run().report).junit.contains(line))
    let sweep = try await plan.sweep(seeds: [1, 2])
    #expect(CommandOutcome(sweep, title: "sweep").junit.contains(line))
    plan.measuredRepeats = 0
    #expect(!CommandOutcome(try await plan.sweep(seeds: [1]), title: "sweep").junit.contains(line))
  }

  @Test func `the JSON report contains the growth that the text report lists`() async throws {
    let report = try await report(Rows.Work(inView: 10_000), rows: 100)
    let json = try JSONValue(parsing: report.json)
    let line = try #require(json["growth"]?.arrayValue?.first?["line"]?.stringValue)
    #expect(report.lines.contains("  ! \(line)"))
  }
}
