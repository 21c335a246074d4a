import HangSimulation
import LiveEvents

extension GeneratedType {
  static let poll = [
    // A complete poll: the question, totals that rise once per second for half a minute, and the
    // end.
    GeneratedType("poll.begin") { _ in
      PayloadPattern(
        names: ["the old map", "the new map", "none, just talk"], isSized: false,
        .batch { state, _, emit in state.poll(emit) })
    }
  ]
}

extension PayloadMaker.State {
  private static let pollSeconds: Int64 = 30

  fileprivate mutating func poll(_ emit: PayloadMaker.Emit) {
    let id = Text("poll-\(source)-\(occasions)")
    emit(
      .zero, 0,
      .poll(
        .begin(PollQuestion(id: id, title: Text("Question \(occasions)"), options: names))))
    // Each option gets a random popularity, so that some options receive more votes than others.
    let appeal = names.map { _ in random.integer(in: 1...40) }
    var totals = names.map { _ in 0 }
    for second in 1...Self.pollSeconds {
      for index in totals.indices { totals[index] += random.integer(in: 0...appeal[index]) }
      emit(.seconds(second), 0, .poll(.votes(pollID: id, totals: totals)))
    }
    let most = totals.max() ?? 0
    let leaders = totals.indices.filter { totals[$0] == most }
    emit(
      .seconds(Self.pollSeconds), 0,
      .poll(.end(pollID: id, winner: leaders.count == 1 ? leaders[0] : nil)))
  }
}
