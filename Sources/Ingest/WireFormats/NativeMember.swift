/// The members that native events and control lines have, nested ones under the name of their path.
enum NativeMember: Int, CaseIterable {
  case type, room, ts, id, user, text, replyTo, bits, seconds, kind, count, group, title
  case control, phase, value, on
  case bitrateKbps, framesPerSecond, droppedFrames, roundTripMs, congestion
  case input, levels, state, bytes, durationMs, done, total
  case slowSeconds, emoteOnly, followersOnlyMinutes, subscribersOnly, uniqueOnly
  case token, clock
  case startsAt, all, words, mentionsOnly, names, position, message, notice, handling
  /// `user.id`, `user.name`, `user.badges`
  case userID, userName, userBadges

  /// One bit per member, for sets of them.
  var bit: UInt64 { 1 << UInt64(rawValue) }

  /// Keys of the line's object, by the raw value of their member.
  static let keys = WordTable(allCases.filter { $0.rawValue < userID.rawValue }.map { "\($0)" })
  /// Keys of the object in `user`, by their distance from `userID`.
  static let userKeys = WordTable(["id", "name", "badges"])

  static let userMembers = userID.bit | userName.bit | userBadges.bit
}

/// The values of the `type` member.
enum NativeType: Int, CaseIterable {
  case chatMessage, chatDelete, chatClear, chatTimeout, chatNotice, chatModes
  case reaction, viewers, title, slider, tap, stats, meter
  case recorderState, recorderProgress
  case waitingJoin, waitingLeave, waitingAdmit, waitingSchedule, waitingCapacity
  case stream
  case hostAdmit, hostSet, hostFilter, hostHighlight, hostScroll, hostThread, hostNotice
  case sync, options

  var name: String {
    switch self {
    case .chatMessage: "chat.message"
    case .chatDelete: "chat.delete"
    case .chatClear: "chat.clear"
    case .chatTimeout: "chat.timeout"
    case .chatNotice: "chat.notice"
    case .chatModes: "chat.modes"
    case .reaction: "reaction"
    case .viewers: "viewers"
    case .title: "title"
    case .slider: "slider"
    case .tap: "tap"
    case .stats: "stats"
    case .meter: "meter"
    case .recorderState: "recorder.state"
    case .recorderProgress: "recorder.progress"
    case .waitingJoin: "waiting.join"
    case .waitingLeave: "waiting.leave"
    case .waitingAdmit: "waiting.admit"
    case .waitingSchedule: "waiting.schedule"
    case .waitingCapacity: "waiting.capacity"
    case .stream: "stream"
    case .hostAdmit: "host.admit"
    case .hostSet: "host.set"
    case .hostFilter: "host.filter"
    case .hostHighlight: "host.highlight"
    case .hostScroll: "host.scroll"
    case .hostThread: "host.thread"
    case .hostNotice: "host.notice"
    case .sync: "sync"
    case .options: "options"
    }
  }

  /// Names by raw value.
  static let names = WordTable(allCases.map(\.name))
}
