import ChatImport
import JSON
import LiveEvents

/// A member of an event that a mapping may set, and its type.
struct MappedMember: Sendable {
  enum Kind: Sendable {
    /// Text, truncated to this number of bytes.
    case text(Int)
    case integer, number, boolean, time
    case texts, integers, numbers
  }

  var name: String
  var kind: Kind

  /// The type of each member by name. The native line decoder checks which members an event
  /// requires.
  static let all: [String: Kind] = {
    var kinds: [String: Kind] = [:]
    func add(_ kind: Kind, _ names: String...) { for name in names { kinds[name] = kind } }
    let name = EventLimits.nameLength
    add(
      .text(name), "room", "id", "user.id", "user.name", "kind", "control", "state", "replyTo",
      "channel", "group", "phase", "input", "platform")
    add(.text(EventLimits.titleLength), "title")
    add(.text(8192), "text")
    add(
      .integer, "seconds", "count", "bits", "slowSeconds", "followersOnlyMinutes", "droppedFrames",
      "bytes", "durationMs", "done", "total", "level", "progress", "goal", "cost", "target",
      "winner")
    add(
      .number, "value", "bitrateKbps", "framesPerSecond", "roundTripMs", "congestion", "perSecond")
    add(.boolean, "emoteOnly", "subscribersOnly", "uniqueOnly", "on")
    add(.time, "startsAt", "endsAt")
    add(.texts, "options", "user.badges")
    add(.integers, "totals")
    add(.numbers, "levels")
    return kinds
  }()

  /// The event types that a mapping may create.
  static let types = [
    "chat.message", "chat.delete", "chat.clear", "chat.timeout", "chat.notice", "chat.modes",
    "stream", "title", "category", "viewers", "reaction", "slider", "tap", "control.state", "stats",
    "meter",
    "recorder.state", "recorder.progress", "poll.begin", "poll.votes", "poll.end", "follow",
    "redemption", "announcement", "hypeTrain", "prediction", "goal", "waiting.join",
    "waiting.leave", "waiting.admit", "waiting.schedule", "waiting.capacity", "waiting.pace",
  ]

  /// The event types with an identifier, by which a room recognises duplicates.
  static let identified: Set = [
    "chat.message", "chat.notice", "follow", "redemption", "announcement",
  ]

  /// Returns whether a text exceeds this member's limit, so that it is truncated.
  func isCut(_ value: JSONValue) -> Bool {
    guard case .text(let limit) = kind else { return false }
    return value.wordsText.map { $0.utf8.count > limit } ?? false
  }

  /// Writes a value as this type. Returns false if the value cannot be converted.
  func write(_ value: JSONValue, to writer: inout JSONWriter) -> Bool {
    let key = name.hasPrefix("user.") ? String(name.dropFirst(5)) : name
    switch kind {
    case .text(let limit):
      guard let text = value.wordsText else { return false }
      writer.name(text: key)
      writer.append(text.clipped(to: limit))
    case .integer:
      guard let number = value.looseNumber, abs(number) < 9e15 else { return false }
      writer.name(text: key)
      writer.append(Int(number.rounded(.down)))
    case .number:
      guard let number = value.looseNumber else { return false }
      writer.name(text: key)
      writer.append(number)
    case .boolean:
      let truth: Bool? =
        switch value.scalarText?.clipped(to: 8).lowercased() {
        case "true", "1", "yes", "on": true
        case "false", "0", "no", "off": false
        default: nil
        }
      guard let truth else { return false }
      writer.name(text: key)
      writer.append(truth)
    case .time:
      guard let time = value.milliseconds else { return false }
      writer.name(text: key)
      writer.append(time)
    case .texts:
      guard let texts = list(value, \.scalarText) else { return false }
      writer.name(text: key)
      writer.appendArray { for text in texts { $0.append(text.clipped) } }
    case .integers:
      guard let numbers = list(value, \.looseNumber), numbers.allSatisfy({ abs($0) < 9e15 }) else {
        return false
      }
      writer.name(text: key)
      writer.appendArray { for number in numbers { $0.append(Int(number.rounded(.down))) } }
    case .numbers:
      guard let numbers = list(value, \.looseNumber) else { return false }
      writer.name(text: key)
      writer.appendArray { for number in numbers { $0.append(number) } }
    }
    return true
  }

  /// Returns the converted elements of a list, or of a single value. Returns `nil` if an element
  /// cannot be converted.
  private func list<Element>(
    _ value: JSONValue, _ element: (JSONValue) -> Element?
  ) -> [Element]? {
    let values = value.arrayValue ?? [value]
    let elements = values.compactMap(element)
    return elements.count == values.count ? elements : nil
  }

  /// A description of a valid value, for error messages.
  var example: String {
    switch kind {
    case .text: "text"
    case .integer, .number: "a number"
    case .boolean: "true or false"
    case .time: "a time such as 2026-11-24T20:00:00Z or seconds since 1970"
    case .texts: "a list of texts"
    case .integers, .numbers: "a list of numbers"
    }
  }
}
