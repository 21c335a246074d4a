import Composable
import Foundation
import HangSimulation
import ViewGraph

/// Each row creates date formatters in each evaluation.
enum FormatterPerRow {
  @Reducer struct Calls {
    @ObservableState struct State: Equatable, Sendable {
      @ObservationStateIgnored var rows: KeyedCollection<Int, Row.State> = KeyedCollection(
        (0..<30).map { Row.State(id: $0) })
    }
    enum Action: Sendable { case rows(ElementAction<Int, Row.Action>) }
    var body: some ReducerOf<Self> {
      Reduce { _, _ in .none }.forEach(\.rows, action: \.rows) { Row() }
    }
  }

  @Reducer struct Row {
    @ObservableState struct State: Equatable, Sendable, Identifiable {
      var id: Int
      var seconds: Int = 0

      init(id: Int) { self.id = id }
    }
    enum Action: Sendable { case called(Int) }
    func reduce(into state: inout State, action: Action) -> Effect<Action> {
      if case .called(let seconds) = action { state.seconds = seconds }
      return .none
    }
  }

  struct CallsView: View {
    static let name = "CallsView"
    let version: PlantedFault.Version
    func body(_ state: Observed<Calls.State>, _ context: ViewContext) -> ViewNode {
      .column(context.each(RowView(version: version), state, \.rows))
    }
  }

  struct RowView: View {
    static let name = "RowView"
    let version: PlantedFault.Version
    func body(_ state: Observed<Row.State>, _ context: ViewContext) -> ViewNode {
      let (day, time) = version == .faulty ? Self.makeFormatters() : Self.shared
      let date = Date(timeIntervalSince1970: Double(state.seconds))
      return .text("call \(state.id): \(day.string(from: date)) at \(time.string(from: date))")
    }

    private static let shared = makeFormatters()

    private static func makeFormatters() -> (day: DateFormatter, time: DateFormatter) {
      func formatter(_ format: String) -> DateFormatter {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_GB")
        formatter.dateFormat = format
        return formatter
      }
      return (formatter("EEEE d MMMM"), formatter("HH:mm:ss"))
    }
  }

  static let fault = PlantedFault(
    "formatter-per-row", .heavyWork, "RowView",
    screen: { version in
      SimulatedScreen<Int>(
        CallsView(version: version), state: { Calls.State() }, reducer: { _ in Calls() },
        on: { [.rows(ElementAction(id: $0 % 30, action: .called($0)))] })
    },
    events: [.poisson(every: .milliseconds(10)) { $0.integer(in: 0...2_000_000_000) }])
}
