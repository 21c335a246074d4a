import ChatFeature
import Composable
import ComposableTesting
import Testing
import ViewGraph

/// A chat without a lane, whose view is drawn on request.
struct DrawnChat {
  let store = Store(
    initialState: ChatFeature.State(), lane: DirectLane(), notification: .batched
  ) { ChatFeature() }

  /// Draws the chat. Returns its lines.
  func lines() throws -> [ViewNode] {
    let graph = ViewGraph(ChatView(), place: store.place, clock: { 0 }, read: { store.state })
    graph.evaluateFrame()
    guard case .panel(_, .column(let lines)) = try #require(graph.output(of: graph.rootID)) else {
      Issue.record("The chat must be a panel.")
      return []
    }
    return lines
  }
}
