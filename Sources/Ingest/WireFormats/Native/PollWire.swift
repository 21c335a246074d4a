import JSON
import LiveEvents

extension PollEvent: NativeEvent {
  enum NativeType: String, CaseIterable {
    case begin = "poll.begin"
    case votes = "poll.votes"
    case end = "poll.end"
  }

  var nativeType: NativeType {
    switch self {
    case .begin: .begin
    case .votes: .votes
    case .end: .end
    }
  }

  init(_ type: NativeType, from line: borrowing NativeMembers) throws(RejectionReason) {
    self =
      switch type {
      case .begin: .begin(try PollQuestion(line))
      case .votes:
        // The view computes shares from the sum of the totals, which cannot overflow because of
        // this limit.
        .votes(
          pollID: try line.name(.id),
          totals: try line.integers(
            .totals, in: EventLimits.count, atMost: Self.maximumOptions))
      case .end:
        .end(
          pollID: try line.name(.id),
          winner: line.optionalInteger(.winner, in: 0...Self.maximumOptions - 1))
      }
  }

  func write(to object: inout JSONWriter) {
    switch self {
    case .begin(let question):
      object.add("id", question.id)
      object.add("title", question.title)
      object.addArray("options") { array in
        for option in question.options { array.append(option) }
      }
      object.add("endsAt", question.endsAt.map { Int($0) })
    case .votes(let id, let totals):
      object.add("id", id)
      object.addArray("totals") { array in for total in totals { array.append(total) } }
    case .end(let id, let winner):
      object.add("id", id)
      object.add("winner", winner)
    }
  }
}

extension PollQuestion {
  fileprivate init(_ line: borrowing NativeMembers) throws(RejectionReason) {
    self.init(
      id: try line.name(.id), title: try line.text(.title),
      options: try line.names(.options, atMost: PollEvent.maximumOptions),
      endsAt: line.optionalTimestamp(.endsAt))
    // Escapes are resolved before the bytes are counted, because recordings may escape the same
    // title differently.
    guard title.withUTF8({ $0.count }) <= EventLimits.titleLength else {
      throw line.invalid(.title)
    }
    guard !options.isEmpty else { throw line.invalid(.options) }
  }
}
