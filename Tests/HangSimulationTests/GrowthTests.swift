import Composable
import Foundation
import HangSimulation
import Testing
import ViewGraph

/// A list whose view, or whose reducer, does some work for each row.
@Reducer
struct Rows {
  /// Nanoseconds per row.
  struct Work: Equatable, Sendable {
    var inView = 0
    var inReducer = 0
  }

  @ObservableState
  struct State: Equatable, Sendable {
    var rows: [Int] = []
    /// Grows half as fast.
    var others: Set<Int> = []
    var work = Work()
  }

  enum Action: Sendable {
    case added(Int)
    case ticked
  }

  func reduce(into state: inout State, action: Action) -> Effect<Action> {
    switch action {
    case .added(let number):
      state.rows.append(number)
      if number.isMultiple(of: 7) { state.others.insert(number * number % 101) }
    case .ticked: burn(state.work.inReducer * state.rows.count)
    }
    return .none
  }
}

/// Works for this long, in processor time, so that a busy machine makes no difference.
func burn(_ nanoseconds: Int) {
  func now() -> Int {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return time.tv_sec * 1_000_000_000 + time.tv_nsec
  }
  let end = now() + nanoseconds
  if nanoseconds > 0 { while now() < end {} }
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
    let screen = SimulatedScreen<Rows.Action>(
      RowsView(), state: { Rows.State(work: work) },
      reducer: { (_: SimulatedWorld) in Rows() }, on: { (action: Rows.Action) in [action] })
    let costs = DeviceProfile.Costs(action: .microseconds(10), view: .cost(.microseconds(100)))
    return try await screen.simulate(
      [
        .every(.milliseconds(10_000 / rows)) { .added($0.integer(in: 0...9_999)) },
        .every(.milliseconds(100)) { _ in .ticked },
      ], on: devices ?? [Device("phone", costs: costs)], for: .seconds(10))
  }

  @Test(arguments: [(1_000, 1_000), (10_000, 250), (100_000, 50)])
  func `a body that works for each row is found with its cost per row`(
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

  @Test func `a reducer that works for each row is found with its action`() async throws {
    let report = try await report(Rows.Work(inReducer: 2_000), rows: 500)
    let finding = try #require(report.growth.first)
    #expect(report.growth.count == 1)
    #expect(finding.kind == .action)
    #expect(finding.name == "ticked")
    #expect(finding.field == "rows")
    #expect((0.75...1.25).contains(finding.perElement / .nanoseconds(2_000)))
  }

  @Test func `work that does not grow is not reported`() async throws {
    #expect(try await report(Rows.Work(), rows: 1_000).growth.isEmpty)
  }

  @Test func `growth is projected to each device, at its speed`() async throws {
    let costs = DeviceProfile.Costs(action: .microseconds(10), view: .cost(.microseconds(100)))
    let phone = Device("phone", costs: costs)
    let report = try await report(
      Rows.Work(inView: 10_000), rows: 250, on: [phone, phone.slowed(by: 2)])
    let finding = try #require(report.growth.first)
    #expect(report.growth.count == 1)
    try #require(finding.projected.map(\.device) == ["phone", "phone x 2"])
    #expect(finding.projected.map(\.size) == [251, 251])
    let ratio = finding.projected[1].work / finding.projected[0].work
    #expect((1.99...2.01).contains(ratio))
  }

  @Test func `measured figures are no part of what two runs must share`() async throws {
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

  @Test func `growth can be a condition`() async throws {
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
}
