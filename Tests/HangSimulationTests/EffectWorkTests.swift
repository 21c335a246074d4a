import Composable
import HangSimulation
import Testing
import ViewGraph

/// A feature with an effect that computes.
@Reducer
private struct Computing {
  @ObservableState
  struct State: Equatable, Sendable {
    var done: Int = 0
  }

  enum Action: Sendable {
    case tapped(onLane: Bool)
    case finished
  }

  func reduce(into state: inout State, action: Action) -> Effect<Action> {
    switch action {
    case .tapped(let onLane):
      return .run(name: "thumbnails", onLane: onLane) { send in
        burn(20_000_000)
        send(.finished)
      }
    case .finished:
      state.done += 1
      return .none
    }
  }
}

private struct ComputingView: View {
  static let name = "ComputingView"
  func body(_ state: Observed<Computing.State>, _ context: ViewContext) -> ViewNode {
    .text("\(state.done)")
  }
}

@Suite(.timeLimit(.minutes(5))) struct EffectWorkTests {
  private func plan(onLane: Bool, slowdown: Double = 1) -> SimulationPlan {
    let screen = SimulatedScreen<Computing.Action>(
      ComputingView(), state: { Computing.State() },
      reducer: { (_: SimulatedWorld) in Computing() },
      on: { (action: Computing.Action) in [action] })
    let costs = DeviceProfile.Costs(action: .milliseconds(1), view: .cost(.milliseconds(1)))
    return SimulationPlan(
      "computing", duration: .seconds(3),
      devices: [Device("phone", slowdown: slowdown, costs: costs)],
      variants: [
        screen.variant(
          "default", events: [.at(.seconds(1), .seconds(2), event: .tapped(onLane: onLane))])
      ])
  }

  @Test func `an effect that computes on the screen's thread is reported as a finding`()
    async throws
  {
    let report = try await plan(onLane: true, slowdown: 2).run().report
    let hold = try #require(report.laneHolds.first)
    #expect(report.laneHolds.count == 1)
    #expect(hold.effect == "thumbnails")
    #expect(hold.count == 2)
    #expect(hold.longest >= .milliseconds(19))
    #expect(hold.longestOnDevice == hold.longest * 2)
    #expect(report.lines.contains { $0.contains("effect thumbnails holds the thread") })
    #expect(report.json.contains(#""laneHolds":[{"variant":"default","effect":"thumbnails""#))
    // The simulated turn excludes measured time: it contains two actions and the view.
    #expect(report.runs[0].longest == 2 * 3_000_000)
  }

  @Test func `an effect that computes on another thread is not reported as a finding`() async throws
  {
    let report = try await plan(onLane: false).run().report
    #expect(report.laneHolds.isEmpty)
    #expect(report.runs[0].actions == 4)
  }

  @Test
  func `with measured costs, a turn contains the computation of an effect on the screen's thread`()
    async throws
  {
    for (onLane, isLong) in [(true, true), (false, false)] {
      var plan = plan(onLane: onLane)
      plan.measuredRepeats = 3
      let measured = try #require(try await plan.run().report.measured.first)
      let longest = try #require(measured.interval(\.longest))
      #expect((longest.least >= 19_000_000) == isLong, "\(longest)")
    }
  }
}
