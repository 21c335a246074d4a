import LiveEvents

/// Bounds of what a native line may say.
enum NativeLimits {
  /// Counts that reducers add up: billions of events of this size fit in 64 bits.
  static let count = 0...1_000_000_000
  /// Totals that are compared, never added.
  static let total = 0...(1 << 53)
  static let timestamp =
    Int(HostLimits.timestamps.lowerBound)...Int(HostLimits.timestamps.upperBound)
  /// Identifiers and names, in bytes. They are kept for as long as a room lives, and strangers choose them.
  static let name = HostLimits.textLength

  /// Whether a text is no longer than a name; escapes are not counted, since what is recorded may be
  /// written with others.
  @inline(__always)
  static func isName(_ slice: ByteSlab.Slice, in slab: ByteSlab) -> Bool {
    if slice.count <= name { return true }
    return slice.escape != .none && Text(slab: slab, slice: slice).withUTF8 { $0.count } <= name
  }

  static let measure = 0.0...1e12
  static let fraction = 0.0...1.0
  /// Channels of one meter.
  static let channels = 64
}

/// What the members of a native line say, by its type.
extension NativeMembers {
  /// Reads the event of an event type. `nil` for a control line's type.
  @inline(__always)
  func payload(of type: NativeType, _ tokens: JSONTokens) throws(RejectionReason)
    -> LiveEvent.Payload?
  {
    // By far the most frequent type stands by itself, so that it is read without another call.
    if type == .chatMessage { return .chatMessage(try chatMessage(tokens)) }
    return try otherPayload(of: type, tokens)
  }

  private func otherPayload(of type: NativeType, _ tokens: JSONTokens) throws(RejectionReason)
    -> LiveEvent.Payload?
  {
    switch type {
    case .chatMessage: .chatMessage(try chatMessage(tokens))
    case .chatDelete: .chatDelete(messageID: try name(.id))
    case .chatClear: .chatClear
    case .chatTimeout:
      .chatTimeout(
        ChatTimeout(
          user: try personByID(),
          seconds: try optionalInteger(.seconds, in: NativeLimits.count)))
    case .chatNotice:
      .chatNotice(
        ChatNotice(
          kind: try choice(.kind), user: try person(),
          count: try integer(.count, in: NativeLimits.count),
          group: has(.group) ? try name(.group) : nil))
    case .chatModes: .chatModes(try modes())
    case .reaction:
      .reaction(kind: try name(.kind), count: try integer(.count, in: NativeLimits.count))
    case .viewers: .viewers(count: try integer(.count, in: NativeLimits.count))
    case .title: .title(try text(.title))
    case .slider:
      .slider(
        Slider(
          control: try name(.control), phase: try choice(.phase),
          value: try number(.value, in: NativeLimits.fraction)))
    case .tap: .tap(control: try name(.control), on: try optionalBool(.on))
    case .stats: .stats(try statistics())
    case .meter: .meter(input: try name(.input), levels: try levels(tokens))
    case .recorderState: .recorderState(try choice(.state))
    case .recorderProgress:
      .recorderProgress(
        RecorderProgress(
          bytes: try integer(.bytes, in: NativeLimits.total),
          durationMilliseconds: try milliseconds(.durationMs, in: NativeLimits.total),
          done: try optionalInteger(.done, in: NativeLimits.total),
          total: try optionalInteger(.total, in: NativeLimits.total)))
    case .waitingJoin: .waitingJoin(try person())
    case .waitingLeave: .waitingLeave(try personByID())
    case .waitingAdmit: .waitingAdmit(try personByID())
    case .waitingSchedule: .waitingSchedule(startsAt: try optionalTimestamp(.startsAt))
    case .waitingCapacity:
      .waitingCapacity(try optionalInteger(.count, in: NativeLimits.count))
    case .stream: .stream(try choice(.state))
    case .hostAdmit, .hostSet, .hostFilter, .hostHighlight, .hostScroll, .hostThread, .hostNotice:
      .host(try hostInput(of: type, tokens))
    case .sync, .options: nil
    }
  }

  // MARK: Parts

  @inline(__always)
  private func chatMessage(_ tokens: JSONTokens) throws(RejectionReason) -> ChatMessage {
    let id = try nameSlice(.id)
    try requireUserObject()
    let slices = ChatMessage.Slices(
      id: id, userID: try nameSlice(.userID), userName: try shortSlice(.userName),
      badges: has(.userBadges) ? try badges(tokens) : .empty,
      text: try slice(.text), replyTo: try optionalSlice(.replyTo))
    let bits = has(.bits) ? try integer(.bits, in: NativeLimits.count) : 0
    return ChatMessage(slab: slab, slices: slices, bits: UInt32(bits))
  }

  /// A string as it is shown, or an array of strings.
  private func badges(_ tokens: JSONTokens) throws(RejectionReason) -> ByteSlab.Slice {
    let value = values[NativeMember.userBadges.rawValue]
    guard value.kind == .array else { return try slice(.userBadges) }
    try forEachElement(of: value, tokens) { element throws(RejectionReason) in
      guard element.kind == .string || element.kind == .escapedString else { throw .invalidValue }
    }
    return ByteSlab.Slice(
      offset: bytesOffset + Int(value.start) + 1, count: Int(value.count) - 2, escape: .jsonStrings)
  }

  private func requireUserObject() throws(RejectionReason) {
    guard try value(.user).kind == .object else { throw .invalidValue }
  }

  private func person() throws(RejectionReason) -> Person {
    try requireUserObject()
    return Person(id: try name(.userID), name: try shortText(.userName))
  }

  /// Somebody who is known by now: a name is welcome, the identifier enough, as a string too.
  private func personByID() throws(RejectionReason) -> Person {
    guard try value(.user).kind == .object else {
      let id = try name(.user)
      return Person(id: id, name: id)
    }
    let id = try name(.userID)
    return Person(id: id, name: has(.userName) ? try shortText(.userName) : id)
  }

  private func modes() throws(RejectionReason) -> ChatModes {
    let modes = ChatModes(
      slowSeconds: try optionalInteger(.slowSeconds, in: NativeLimits.count),
      emoteOnly: try optionalBool(.emoteOnly),
      followersOnlyMinutes: try optionalInteger(
        .followersOnlyMinutes, in: -1...NativeLimits.count.upperBound),
      subscribersOnly: try optionalBool(.subscribersOnly),
      uniqueOnly: try optionalBool(.uniqueOnly))
    guard modes != ChatModes() else { throw .missingMember }
    return modes
  }

  private func statistics() throws(RejectionReason) -> StreamStatistics {
    let sample = StreamStatistics(
      bitrateKbps: try optionalNumber(.bitrateKbps, in: NativeLimits.measure),
      framesPerSecond: try optionalNumber(.framesPerSecond, in: NativeLimits.measure),
      droppedFrames: try optionalInteger(.droppedFrames, in: NativeLimits.total),
      roundTripMilliseconds: try optionalNumber(.roundTripMs, in: NativeLimits.measure),
      congestion: try optionalNumber(.congestion, in: NativeLimits.fraction))
    guard sample != StreamStatistics() else { throw .missingMember }
    return sample
  }

  private func levels(_ tokens: JSONTokens) throws(RejectionReason) -> [Float] {
    let value = try value(.levels)
    guard value.kind == .array else { throw .invalidValue }
    var levels: [Float] = []
    try forEachElement(of: value, tokens) { element throws(RejectionReason) in
      guard element.kind == .integer || element.kind == .decimal,
        levels.count < NativeLimits.channels
      else { throw .invalidValue }
      let level = JSONScalar.double(bytes(of: element), count: Int(element.count))
      guard NativeLimits.fraction.contains(level) else { throw .invalidValue }
      levels.append(Float(level))
    }
    return levels
  }

  /// Calls `body` with each element of an array, whose grammar was checked.
  func forEachElement(
    of array: JSONValue, _ tokens: JSONTokens,
    _ body: (JSONValue) throws(RejectionReason) -> Void
  ) throws(RejectionReason) {
    var token = Int(array.token) + 1
    guard tokens.byte(token) != UInt8(ascii: "]") else { return }
    var element = JSONValue()
    while let next = tokens.value(at: token, into: &element) {
      try body(element)
      guard tokens.byte(next) == UInt8(ascii: ",") else { return }
      token = next + 1
    }
  }
}
