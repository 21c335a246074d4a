import JSON
import LiveEvents

extension WaitingRoomEvent: NativeEvent {
  enum NativeType: String, CaseIterable {
    case join = "waiting.join"
    case leave = "waiting.leave"
    case admitted = "waiting.admit"
    case schedule = "waiting.schedule"
    case capacity = "waiting.capacity"
    case pace = "waiting.pace"
    case admit = "host.admit"
  }

  var nativeType: NativeType {
    switch self {
    case .join: .join
    case .leave: .leave
    case .admitted: .admitted
    case .schedule: .schedule
    case .capacity: .capacity
    case .pace: .pace
    case .admit: .admit
    }
  }

  init(_ type: NativeType, from line: borrowing NativeMembers) throws(RejectionReason) {
    self =
      switch type {
      case .join: .join(try line.person())
      case .leave: .leave(try line.knownPerson())
      case .admitted: .admitted(try line.knownPerson())
      case .schedule:
        .schedule(
          startsAt: try line.exact(.startsAt) { (line, member) throws(RejectionReason) in
            Timestamp(try line.milliseconds(member, in: NativeMembers.timestamps))
          })
      case .capacity: .capacity(try line.exactInteger(.count, in: EventLimits.count))
      case .pace:
        .pace(
          perSecond: try line.exact(.perSecond) { (line, member) throws(RejectionReason) in
            try line.number(member, in: Self.pace)
          })
      case .admit: .admit(try Admission(line))
      }
  }

  func write(to object: inout JSONWriter) {
    switch self {
    case .join(let user), .leave(let user), .admitted(let user): object.add("user", user)
    case .schedule(let time): object.add("startsAt", time.map { Int($0) })
    case .capacity(let count): object.add("count", count)
    case .pace(let perSecond): object.add("perSecond", perSecond)
    case .admit(.next): break
    case .admit(.all): object.add("all", true)
    case .admit(.person(let id)): object.add("user", id)
    }
  }
}

extension Admission {
  /// Reads whether to admit everybody, one person, or, if the line names neither, the person who
  /// has waited longest.
  fileprivate init(_ line: borrowing NativeMembers) throws(RejectionReason) {
    let isAll = try line.exactBool(.all) ?? false
    guard
      let id = try line.exact(
        .user,
        { (line, _) throws(RejectionReason) in
          try line.personID()
        })
    else {
      self = isAll ? .all : .next
      return
    }
    guard !isAll else { throw line.invalid(.all) }
    self = .person(id)
  }
}
