package import JSON
package import LiveEvents
import LiveSources

/// An act of the host or a moderator on Twitch. Every value is within Twitch's limits.
package enum TwitchAct: Equatable, Sendable {
  case say(String, replyTo: MessageIdentifier?)
  case announce(String)
  case delete(MessageIdentifier)
  /// Allows or refuses a message that AutoMod holds.
  case reviewHeld(MessageIdentifier, isAllowed: Bool)
  /// A ban, or a time-out if `seconds` is set.
  case ban(PersonIdentifier, seconds: Int?, reason: String?)
  case unban(PersonIdentifier)
  case shoutOut(PersonIdentifier)
  case mark(description: String?)
  case setTitle(String)
  /// Sets the category to the one with this name.
  case setCategory(String)
  /// Changes the members of Twitch's chat settings.
  case setChatModes([JSONName: JSONValue])
  case setShield(isOn: Bool)

  /// The identifier of a message, which is never empty. If a request to delete a message contains
  /// no identifier, Twitch clears the whole chat, so no such request can be built. Twitch's
  /// identifiers are UUIDs. Other characters, such as a space, are refused: Twitch might treat such
  /// an identifier as absent.
  package struct MessageIdentifier: Hashable, Sendable {
    let text: String

    package init?(_ text: String) {
      guard (1...EventLimits.nameLength).contains(text.utf8.count),
        text.utf8.allSatisfy({ $0.isDigit || $0.isLetter || $0 == UInt8(ascii: "-") }),
        text.utf8.contains(where: { $0 != UInt8(ascii: "-") })
      else { return nil }
      self.text = text
    }
  }

  /// Twitch's number of a person.
  package struct PersonIdentifier: Hashable, Sendable {
    let text: String

    package init?(_ text: String) {
      guard (1...20).contains(text.utf8.count),
        text.utf8.allSatisfy(\.isDigit)
      else { return nil }
      self.text = text
    }
  }

  /// The reason why an act cannot be carried out on Twitch.
  package struct Refusal: Error, Equatable {
    package let reason: String
  }

  // Twitch's limits, where they are narrower than the limits of every act. Titles and descriptions
  // are counted in Unicode code points.
  static let longestTitle = 140
  static let slowSeconds = 3...120
  static let followedMinutes = 0...129_600

  /// Checks an act that the room requests.
  package init(_ act: PlatformAct) throws(Refusal) {
    switch act.kind {
    case .say: self = .say(try Self.chatText(act), replyTo: nil)
    case .reply: self = .say(try Self.chatText(act), replyTo: try Self.message(act))
    case .announce: self = .announce(try Self.text(act))
    case .delete: self = .delete(try Self.message(act))
    case .reviewHeld:
      self = .reviewHeld(try Self.message(act), isAllowed: act.on == true)
    case .timeOut, .ban:
      self = .ban(
        try Self.person(act), seconds: act.seconds, reason: act.reason.map { String($0) })
    case .unban: self = .unban(try Self.person(act))
    case .shoutOut: self = .shoutOut(try Self.person(act))
    case .mark: self = .mark(description: act.text == nil ? nil : try Self.title(act))
    case .setTitle: self = .setTitle(try Self.title(act))
    case .setCategory: self = .setCategory(try Self.text(act))
    case .setChatModes: self = .setChatModes(try Self.settings(act.modes ?? ChatModes()))
    case .setShield: self = .setShield(isOn: act.on == true)
    }
  }

  private static func text(_ act: PlatformAct) throws(Refusal) -> String {
    guard let text = act.text, !text.isEmpty else { throw Refusal(reason: "the text is missing") }
    return String(text)
  }

  /// Returns the text of a message. Refuses a message that Twitch would read as a command: Twitch
  /// drops its first word, sends the rest, and reports success. Two dots do not begin a command.
  private static func chatText(_ act: PlatformAct) throws(Refusal) -> String {
    let text = try text(act)
    let start = text.visibleStart
    guard start.first != "/", start.first != "." || start == [".", "."] else {
      throw Refusal(reason: "Twitch drops the first word of a message that begins with / or .")
    }
    return text
  }

  private static func title(_ act: PlatformAct) throws(Refusal) -> String {
    let text = try text(act)
    guard text.unicodeScalars.count <= longestTitle else {
      throw Refusal(reason: "the text is longer than Twitch's limit of \(longestTitle) characters")
    }
    return text
  }

  private static func message(_ act: PlatformAct) throws(Refusal) -> MessageIdentifier {
    guard let identifier = act.message.flatMap({ MessageIdentifier(String($0)) }) else {
      throw Refusal(reason: "the message's identifier is not one of Twitch")
    }
    return identifier
  }

  private static func person(_ act: PlatformAct) throws(Refusal) -> PersonIdentifier {
    // Events that lack a person's identifier have the name in its place.
    guard let identifier = act.person.flatMap({ PersonIdentifier(String($0.id)) }) else {
      throw Refusal(reason: "Twitch's number of this person is unknown")
    }
    return identifier
  }

  private static func settings(_ modes: ChatModes) throws(Refusal) -> [JSONName: JSONValue] {
    var settings: [JSONName: JSONValue] = [:]
    if let seconds = modes.slowSeconds {
      settings["slow_mode"] = .bool(seconds != 0)
      if seconds != 0 {
        guard slowSeconds.contains(seconds) else {
          throw Refusal(reason: "Twitch's slow mode takes 3 to 120 seconds")
        }
        settings["slow_mode_wait_time"] = .integer(Int64(seconds))
      }
    }
    if let minutes = modes.followersOnlyMinutes {
      settings["follower_mode"] = .bool(minutes >= 0)
      if minutes >= 0 {
        guard followedMinutes.contains(minutes) else {
          throw Refusal(reason: "Twitch's followers-only mode takes 0 to 129,600 minutes")
        }
        settings["follower_mode_duration"] = .integer(Int64(minutes))
      }
    }
    if let isOn = modes.emoteOnly { settings["emote_mode"] = .bool(isOn) }
    if let isOn = modes.subscribersOnly { settings["subscriber_mode"] = .bool(isOn) }
    if let isOn = modes.uniqueOnly { settings["unique_chat_mode"] = .bool(isOn) }
    return settings
  }
}

extension UInt8 {
  fileprivate var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
  fileprivate var isLetter: Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20)
  }
}
