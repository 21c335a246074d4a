public import LiveEvents

/// Writes events as native lines; the opposite of ``LineDecoder``.
///
/// Decoding what was written gives an equal event, for every event that a line can carry.
public enum NativeEncoder {
  /// Appends one line, LF included. `room` is left out if it is `nil`.
  ///
  /// Complexity: O(length of the line), whatever stands in `bytes` already.
  public static func append(_ event: LiveEvent, room: RoomName? = nil, to bytes: inout [UInt8]) {
    JSONObjectWriter.append(to: &bytes) { object in
      object.add("type", type(of: event.payload).name)
      if let room { object.add("room", room.description) }
      object.add("ts", Int(event.timestamp))
      object.add(members: event.payload)
    }
    bytes.append(0x0A)
  }

  /// A text as a JSON string, quotation marks included.
  public static func quoted(_ text: String) -> [UInt8] { JSONObjectWriter.quoted(text) }

  /// The value of the `type` member for an event.
  public static func typeName(of payload: LiveEvent.Payload) -> String { type(of: payload).name }

  private static func type(of payload: LiveEvent.Payload) -> NativeType {
    switch payload {
    case .chatMessage: .chatMessage
    case .chatDelete: .chatDelete
    case .chatClear: .chatClear
    case .chatTimeout: .chatTimeout
    case .chatNotice: .chatNotice
    case .chatModes: .chatModes
    case .reaction: .reaction
    case .viewers: .viewers
    case .title: .title
    case .slider: .slider
    case .tap: .tap
    case .stats: .stats
    case .meter: .meter
    case .recorderState: .recorderState
    case .recorderProgress: .recorderProgress
    case .waitingJoin: .waitingJoin
    case .waitingLeave: .waitingLeave
    case .waitingAdmit: .waitingAdmit
    case .waitingSchedule: .waitingSchedule
    case .waitingCapacity: .waitingCapacity
    case .stream: .stream
    case .host(.admit): .hostAdmit
    case .host(.set): .hostSet
    case .host(.filterChat): .hostFilter
    case .host(.highlight): .hostHighlight
    case .host(.scroll): .hostScroll
    case .host(.openThread): .hostThread
    case .host(.notice): .hostNotice
    }
  }
}

extension JSONObjectWriter {
  fileprivate mutating func add(members payload: LiveEvent.Payload) {
    switch payload {
    case .chatMessage(let message): add(message)
    case .chatDelete(let messageID): add("id", messageID)
    case .chatClear: break
    case .chatTimeout(let timeout):
      add("user", timeout.user)
      add("seconds", timeout.seconds)
    case .chatNotice(let notice):
      add("kind", notice.kind.rawValue)
      add("user", notice.user)
      add("count", notice.count)
      if let group = notice.group { add("group", group) }
    case .chatModes(let modes):
      add("slowSeconds", modes.slowSeconds)
      add("emoteOnly", modes.emoteOnly)
      add("followersOnlyMinutes", modes.followersOnlyMinutes)
      add("subscribersOnly", modes.subscribersOnly)
      add("uniqueOnly", modes.uniqueOnly)
    case .reaction(let kind, let count):
      add("kind", kind)
      add("count", count)
    case .viewers(let count): add("count", count)
    case .title(let title): add("title", title)
    case .slider(let slider):
      add("control", slider.control)
      add("phase", slider.phase.rawValue)
      add("value", slider.value)
    case .tap(let control, let on):
      add("control", control)
      add("on", on)
    case .stats(let sample):
      add("bitrateKbps", sample.bitrateKbps)
      add("framesPerSecond", sample.framesPerSecond)
      add("droppedFrames", sample.droppedFrames)
      add("roundTripMs", sample.roundTripMilliseconds)
      add("congestion", sample.congestion)
    case .meter(let input, let levels):
      add("input", input)
      add("levels", levels)
    case .recorderState(let state): add("state", state.rawValue)
    case .recorderProgress(let progress):
      add("bytes", progress.bytes)
      add("durationMs", progress.durationMilliseconds)
      add("done", progress.done)
      add("total", progress.total)
    case .waitingJoin(let user), .waitingLeave(let user), .waitingAdmit(let user):
      add("user", user)
    case .waitingSchedule(let time): add("startsAt", time.map { Int($0) })
    case .waitingCapacity(let count): add("count", count)
    case .stream(let state): add("state", state.rawValue)
    case .host(let input): add(input)
    }
  }

  private mutating func add(_ input: HostInput) {
    switch input {
    case .admit(.next): break
    case .admit(.all): add("all", true)
    case .admit(.person(let id)): add("user", id)
    case .set(let control, let value):
      add("control", control)
      add("value", value)
    case .filterChat(let filter):
      add("user", filter.person)
      add("words", filter.words)
      if filter.mentionsOnly { add("mentionsOnly", true) }
    case .highlight(let names): add("names", names)
    case .scroll(let place): add("position", place.rawValue)
    case .openThread(let messageID): add("message", messageID)
    case .notice(let number, let handling):
      add("notice", number)
      add("handling", handling.rawValue)
    }
  }

  private mutating func add(_ message: ChatMessage) {
    add("id", message.id)
    add("user", Person(id: message.userID, name: message.userName), badges: message.badges)
    add("text", message.text)
    if !message.replyTo.isEmpty { add("replyTo", message.replyTo) }
    if message.bits > 0 { add("bits", Int(message.bits)) }
  }

  private mutating func add(_ key: StaticString, _ person: Person, badges: Text? = nil) {
    open(key)
    add("id", person.id)
    add("name", person.name)
    if let badges, !badges.isEmpty { add("badges", badges) }
    close()
  }
}
