import JSON
import LiveEvents

extension ActivityEvent: NativeEvent {
  enum NativeType: String, CaseIterable {
    case follow, redemption, announcement, hypeTrain, prediction, goal
    case handle = "host.activity"
  }

  var nativeType: NativeType {
    switch self {
    case .follow: .follow
    case .redemption: .redemption
    case .announcement: .announcement
    case .hypeTrain: .hypeTrain
    case .prediction: .prediction
    case .goal: .goal
    case .handle: .handle
    }
  }

  init(_ type: NativeType, from line: borrowing NativeMembers) throws(RejectionReason) {
    self =
      switch type {
      case .follow: .follow(user: try line.person(), id: line.optionalName(.id))
      case .redemption: .redemption(try Redemption(line))
      case .announcement: .announcement(try Announcement(line))
      case .hypeTrain: .hypeTrain(try HypeTrain(line))
      case .prediction: .prediction(try Prediction(line))
      case .goal:
        .goal(
          Goal(
            title: try line.name(.title), count: try line.integer(.count, in: EventLimits.total),
            target: try line.integer(.target, in: EventLimits.total)))
      case .handle:
        .handle(
          number: try line.integer(.activity, in: EventLimits.total), try line.choice(.handling))
      }
  }

  func write(to object: inout JSONWriter) {
    switch self {
    case .follow(let user, let id):
      object.add("id", id)
      object.add("user", user)
    case .redemption(let redemption):
      object.add("id", redemption.id)
      object.add("user", redemption.user)
      object.add("title", redemption.title)
      object.add("cost", redemption.cost)
      object.add("text", redemption.text)
      object.add(emotes: redemption.emotes)
    case .announcement(let announcement):
      object.add("id", announcement.id)
      if let user = announcement.user { object.add("user", user) }
      object.add("text", announcement.text)
      object.add(emotes: announcement.emotes)
    case .hypeTrain(let train):
      object.add("phase", train.phase.rawValue)
      object.add("level", train.level)
      object.add("total", train.total)
      object.add("progress", train.progress)
      object.add("goal", train.goal)
      object.add("endsAt", train.endsAt.map { Int($0) })
    case .prediction(let prediction):
      object.add("id", prediction.id)
      object.add("title", prediction.title)
      object.add("state", prediction.state.rawValue)
      object.addArray("options") { array in
        for option in prediction.options { array.append(option) }
      }
      if !prediction.totals.isEmpty {
        object.addArray("totals") { array in
          for total in prediction.totals { array.append(total) }
        }
      }
      object.add("winner", prediction.winner)
      object.add("endsAt", prediction.endsAt.map { Int($0) })
    case .goal(let goal):
      object.add("title", goal.title)
      object.add("count", goal.count)
      object.add("target", goal.target)
    case .handle(let number, let handling):
      object.add("activity", number)
      object.add("handling", handling.rawValue)
    }
  }
}

extension Redemption {
  fileprivate init(_ line: borrowing NativeMembers) throws(RejectionReason) {
    self.init(
      user: try line.person(), title: try line.name(.title),
      cost: line.optionalInteger(.cost, in: EventLimits.total), text: line.optionalText(.text),
      id: line.optionalName(.id))
    emotes = line.emotes(in: text ?? Text(""))
  }
}

extension Announcement {
  fileprivate init(_ line: borrowing NativeMembers) throws(RejectionReason) {
    self.init(
      user: line.optional(.user) { (line, _) throws(RejectionReason) in try line.person() },
      text: try line.text(.text), id: line.optionalName(.id))
    emotes = line.emotes(in: text)
  }
}

extension HypeTrain {
  fileprivate init(_ line: borrowing NativeMembers) throws(RejectionReason) {
    self.init(
      phase: try line.choice(.phase), level: try line.integer(.level, in: EventLimits.count),
      total: line.optionalInteger(.total, in: EventLimits.total),
      progress: line.optionalInteger(.progress, in: EventLimits.total),
      goal: line.optionalInteger(.goal, in: EventLimits.total),
      endsAt: line.optionalTimestamp(.endsAt))
  }
}

extension Prediction {
  fileprivate init(_ line: borrowing NativeMembers) throws(RejectionReason) {
    self.init(
      id: try line.name(.id), title: try line.text(.title), state: try line.choice(.state),
      options: try line.names(.options, atMost: Self.maximumOptions),
      totals: line.optional(.totals) { (line, member) throws(RejectionReason) in
        try line.integers(member, in: EventLimits.count, atMost: Self.maximumOptions)
      } ?? [],
      winner: line.optionalInteger(.winner, in: 0...Self.maximumOptions - 1),
      endsAt: line.optionalTimestamp(.endsAt))
    // Escapes are resolved before the bytes are counted, because recordings may escape the same
    // title differently.
    guard title.withUTF8({ $0.count }) <= EventLimits.titleLength else {
      throw line.invalid(.title)
    }
    guard !options.isEmpty else { throw line.invalid(.options) }
    if !totals.isEmpty, totals.count != options.count {
      line.remarks.pointee.append(.field("totals"))
      totals = []
    }
    if let winner, winner >= options.count {
      line.remarks.pointee.append(.field("winner"))
      self.winner = nil
    }
  }
}
