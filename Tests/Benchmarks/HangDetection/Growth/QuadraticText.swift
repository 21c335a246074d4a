import Composable
import HangSimulation
import ViewGraph

/// A transcript is built line by line, and its length is counted again after each line.
enum QuadraticText {
  @Reducer struct Transcript {
    @ObservableState struct State: Equatable, Sendable {
      var lines: [String] = []
      @ObservationStateIgnored var characters: Int = 0
    }
    enum Action: Sendable { case said(String) }
    func reduce(into state: inout State, action: Action) -> Effect<Action> {
      guard case .said(let line) = action, state.lines.count < 480 else { return .none }
      state.lines.append(line)
      state.characters += line.count + 1
      return .none
    }
  }

  struct TranscriptView: View {
    static let name = "TranscriptView"
    let version: PlantedFault.Version
    func body(_ state: Observed<Transcript.State>, _ context: ViewContext) -> ViewNode {
      let lines = state.lines
      guard version == .faulty else {
        return .column([.text(lines.last ?? ""), .text("\(state.characters) characters")])
      }
      var text = ""
      for line in lines where text.count < 100_000 { text = text + line + "\n" }
      return .column([.text(lines.last ?? ""), .text("\(text.count) characters")])
    }
  }

  static let fault = PlantedFault(
    "quadratic-text", .growth, "TranscriptView", field: "lines",
    screen: { version in
      SimulatedScreen<String>(
        TranscriptView(version: version), state: { Transcript.State() },
        reducer: { _ in Transcript() }, on: { [.said($0)] })
    },
    events: [.poisson(every: .milliseconds(25)) { "and then \($0.integer(in: 0...1_000_000))" }])
}
