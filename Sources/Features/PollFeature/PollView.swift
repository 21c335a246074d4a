import LiveEvents
package import ViewGraph
import Wording

/// Shows the question, the number of votes, the remaining time, and a bar for each option.
package struct PollView: View {
  package static let name = "PollView"

  package init() {}

  package func body(_ state: Observed<PollFeature.State>, _ context: ViewContext) -> ViewNode {
    let options = state.options
    let winner = state.winner
    let total = options.reduce(0) { $0.saturatingSum($1.votes) }
    var figures: [ViewNode] = [
      state.isOpen ? .badge("OPEN", .active) : .badge("ENDED", .faint),
      .text(Format.count(total, "vote"), .strong),
    ]
    switch state.secondsLeft {
    case nil: break
    case 0: figures.append(.text("time is up", .warning))
    case let seconds?:
      figures.append(.text("ends in \(Format.duration(seconds: seconds))", .warning))
    }
    let bars = options.enumerated().map { index, option in
      ViewNode.ListRow(id: "\(index)", bar(option, of: total, hasWon: index == winner))
    }
    return .panel(
      .init("poll", title: "Poll", priority: 2, minimumRows: 3),
      .column([.text(state.title, .strong), .row(figures), .list(bars)]))
  }

  private func bar(_ option: PollFeature.Option, of total: Int, hasWon: Bool) -> ViewNode {
    let share = total > 0 ? Double(option.votes) / Double(total) : 0
    let votes = Format.count(option.votes, "vote")
    return .gauge(
      label: option.title, value: share,
      text: "\(Format.percent(share)) \(votes)\(hasWon ? ", winner" : "")",
      hasWon ? .good : .normal)
  }
}
