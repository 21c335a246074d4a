import LiveEvents

/// What the members of a line say that tells what the host did.
extension NativeMembers {
  /// - Throws: `unknownType` for a type of another kind.
  func hostInput(of type: NativeType, _ tokens: JSONTokens) throws(RejectionReason) -> HostInput {
    switch type {
    case .hostAdmit: .admit(try admission())
    case .hostSet:
      .set(
        control: try name(.control), value: try number(.value, in: NativeLimits.fraction))
    case .hostFilter:
      .filterChat(
        MessageFilter(
          person: has(.user) ? try personID() : nil,
          words: has(.words) ? try name(.words) : nil,
          mentionsOnly: try optionalBool(.mentionsOnly) ?? false))
    case .hostHighlight: .highlight(names: try names(tokens))
    case .hostScroll: .scroll(try choice(.position))
    case .hostThread: .openThread(messageID: has(.message) ? try name(.message) : nil)
    case .hostNotice:
      .notice(number: try integer(.notice, in: NativeLimits.total), try choice(.handling))
    case .chatMessage, .chatDelete, .chatClear, .chatTimeout, .chatNotice, .chatModes, .reaction,
      .viewers, .title, .slider, .tap, .stats, .meter, .recorderState, .recorderProgress,
      .waitingJoin, .waitingLeave, .waitingAdmit, .waitingSchedule, .waitingCapacity, .stream,
      .sync, .options:
      throw .unknownType
    }
  }

  /// A point in time that may be absent.
  func optionalTimestamp(_ member: NativeMember) throws(RejectionReason) -> Timestamp? {
    has(member) ? Timestamp(try milliseconds(member, in: NativeLimits.timestamp)) : nil
  }

  /// All, a person, or without both whoever has waited longest.
  private func admission() throws(RejectionReason) -> Admission {
    let isAll = try optionalBool(.all) ?? false
    guard has(.user) else { return isAll ? .all : .next }
    guard !isAll else { throw .invalidValue }
    return .person(try personID())
  }

  /// An identifier, as a string or in an object.
  private func personID() throws(RejectionReason) -> Text {
    try name(try value(.user).kind == .object ? .userID : .user)
  }

  private func names(_ tokens: JSONTokens) throws(RejectionReason) -> [Text] {
    let value = try value(.names)
    guard value.kind == .array else { throw .invalidValue }
    var names: [Text] = []
    try forEachElement(of: value, tokens) { element throws(RejectionReason) in
      guard element.kind == .string || element.kind == .escapedString, element.count > 0,
        names.count < HostLimits.names
      else { throw .invalidValue }
      let slice = ByteSlab.Slice(
        offset: bytesOffset + Int(element.start), count: Int(element.count),
        escape: element.kind == .string ? .none : .json)
      guard NativeLimits.isName(slice, in: slab) else { throw .invalidValue }
      names.append(Text(slab: slab, slice: slice))
    }
    return names
  }
}
