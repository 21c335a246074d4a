package import JSON
import LiveEvents

/// Translates the chats that Social Stream Ninja collects into native lines.
///
/// The content of a message takes precedence over the name of its event. A message with an amount
/// of money is a donation, and text is always shown. Unknown kinds without text are counted by
/// name.
package struct SocialStreamChat: Sendable {
  private let room: String?
  /// The prefix of generated identifiers, which differs in each run.
  private let run: String
  private var memory = SocialStreamMemory()
  /// The platforms whose viewer counts were sent to the room.
  private var counted: Set<JSONName> = []
  private static let maximumPlatforms = 64

  /// The number of dropped duplicates.
  package private(set) var duplicates = 0

  /// - Parameter room: The room that the lines name, or `nil` if they name none.
  package init(room: String?, run: String) { (self.room, self.run) = (room, run) }

  /// Adds the native lines of a message that was received at `time`, in milliseconds since 1970.
  package mutating func translate(
    _ content: JSONValue, at time: Int, into lines: inout NativeLines
  ) {
    guard content.objectValue != nil else { return lines.count(unknown: "no message") }
    if let deletions = content["delete"], deletions != .null, deletions != .bool(false) {
      for deletion in deletions.arrayValue ?? [deletions] { delete(deletion, at: time, &lines) }
      return
    }
    var message = SocialStreamMessage(content)
    defer { for name in message.unusable { lines.count(unusable: name) } }
    let (event, platform) = (message.event(), message.platform())
    if event == "viewer_update" || event == "viewer_updates" {
      return count(content["meta"], platform, at: time, &lines)
    }
    if let event, Self.bans.contains(event) { return ban(&message, platform, at: time, &lines) }
    let isOf = message.text("chatname") ?? message.text("chatmessage")
    // Remote-control commands arrive on the same channel as messages.
    if isOf == nil, ["action", "callback", "ssnControl"].contains(where: { content[$0] != nil }) {
      return
    }
    guard content["private"] != .bool(true) else { return lines.count(unknown: "private message") }
    guard let user = message.user(platform), let identifier = identify(&message, platform, user)
    else { return }
    SocialStreamEvent(
      user: user.user, identifier: identifier, platform: platform, room: room, time: time
    ).add(&message, event, to: &lines)
  }

  /// Returns the identifier of a message, or `nil` if the message is a duplicate.
  private mutating func identify(
    _ message: inout SocialStreamMessage, _ platform: String,
    _ user: (user: PlatformUser, name: String?, id: String?)
  ) -> String? {
    let (own, native) = message.identifiers()
    var hasher = Hasher()
    for text in [user.name, message.words(), message.event(), message.donation()] {
      hasher.combine(JSONName(text ?? ""))
    }
    let entry = SocialStreamMemory.Entry(
      platform: platform, own: own, native: native, user: user.user.id, name: user.name,
      userID: user.id, words: hasher.finalize())
    let base = (native ?? own).map { "\(platform)/\($0)" }
    let identifier = memory.add(entry, named: base ?? "\(run)/\(memory.added + 1)")
    if identifier == nil { duplicates += 1 }
    return identifier
  }

  // MARK: Viewers

  /// Adds lines with the viewer counts of one or more platforms; the room adds the counts up. A
  /// list of counts contains all platforms, so a platform that is missing from the list has no
  /// viewers.
  private mutating func count(
    _ meta: JSONValue?, _ platform: String, at time: Int, _ lines: inout NativeLines
  ) {
    let wrapped = JSONValue.object(["count": meta ?? .null])
    let names = ["viewers", "count", "viewer_count", "viewerCount", "total"]
    if let count = wrapped.wholeCount("count")
      ?? names.lazy.compactMap({ meta?.wholeCount($0) }).first
    {
      if counted.count >= Self.maximumPlatforms { counted = [] }
      counted.insert(JSONName(platform))
      add(count, of: platform, at: time, &lines)
    } else if let members = meta?.objectValue {
      let counts = members.compactMapValues { value in
        JSONValue.object(["count": value]).wholeCount("count")
          ?? names.lazy.compactMap { value.wholeCount($0) }.first
      }
      if counts.count < members.count { lines.count(unusable: "viewer count") }
      guard !counts.isEmpty, counts.count <= Self.maximumPlatforms else { return }
      for platform in counted.union(counts.keys).sorted() {
        add(counts[platform] ?? 0, of: platform.text, at: time, &lines)
      }
      counted = Set(counts.keys)
    } else {
      lines.count(unusable: "viewer count")
    }
  }

  private func add(_ count: Int, of platform: String, at time: Int, _ lines: inout NativeLines) {
    lines.add("viewers", room: room, at: time) {
      $0.add("count", min(count, EventLimits.count.upperBound))
      if !platform.isEmpty { $0.add("platform", platform.clipped) }
    }
  }

  // MARK: Moderation

  private static let bans: Set = [
    "user_banned", "user_ban", "ban", "banned", "user_timeout", "user_timed_out", "timeout",
    "timedout",
  ]

  private mutating func ban(
    _ message: inout SocialStreamMessage, _ platform: String, at time: Int,
    _ lines: inout NativeLines
  ) {
    let id = message.metaText("userId", "userid", "user_id", "channelId") ?? message.text("userid")
    let names = [
      message.metaText("displayName"), message.metaText("username"), message.metaText("login"),
      message.text("chatname"), message.text("username"),
    ].compactMap { $0?.clipped }
    let isForEver = message.meta["permanent"]?.boolValue == true
    let seconds =
      isForEver
      ? nil : message.count("durationSeconds", "banDurationSeconds", "seconds", "duration")
    var users = memory.users(on: platform, id: id, names: names)
    if users.isEmpty {
      // An earlier run may have delivered messages under the identifier or the name.
      users = [id, names.first].compactMap { $0.map { "\(platform)/\($0)" } }
    }
    guard !users.isEmpty else { return lines.count(unknown: "ban without a user") }
    for user in Set(users).sorted() {
      guard let person = PlatformUser(id: user, name: names.first ?? id) else { continue }
      timeOut(person, seconds: seconds.flatMap { $0 > 0 ? $0 : nil }, platform, at: time, &lines)
    }
  }

  private func timeOut(
    _ person: PlatformUser, seconds: Int?, _ platform: String, at time: Int,
    _ lines: inout NativeLines
  ) {
    lines.add("chat.timeout", room: room, at: time) {
      $0.add(user: person)
      $0.add("seconds", seconds)
      if !platform.isEmpty { $0.add("platform", platform) }
    }
  }

  /// Deletes messages by number or identifier, by author, or for a whole platform.
  ///
  /// The forms are `{type, id}`, `{type, meta: {messageId}}`, `{type, userid}`, `{type, chatname}`,
  /// and `{type}` for all messages of the platform.
  private mutating func delete(_ deletion: JSONValue, at time: Int, _ lines: inout NativeLines) {
    // Some callers send only the identifier of the message to delete.
    let isBare = deletion.objectValue == nil
    var message = SocialStreamMessage(isBare ? .object(["id": deletion]) : deletion)
    defer { for name in message.unusable { lines.count(unusable: "delete.\(name)") } }
    let platform = message.platform()
    let (own, native) = message.identifiers()
    let names = [message.text("chatname"), message.text("username")].compactMap { $0?.clipped }
    let userID = message.text("userid")?.clipped
    var found: [String] = []
    if own != nil || native != nil {
      found = memory.messages(on: platform, own: own, native: native)
      // An earlier run may have delivered the message.
      if found.isEmpty { found = [native, own].compactMap { $0.map { "\(platform)/\($0)" } } }
    } else if userID != nil || !names.isEmpty {
      found = memory.messages(on: platform, userID: userID, names: names)
      if found.isEmpty, let user = userID ?? names.first,
        let person = PlatformUser(id: "\(platform)/\(user)", name: names.first ?? user)
      {
        return timeOut(person, seconds: 1, platform, at: time, &lines)
      }
    } else if !platform.isEmpty {
      found = memory.messages(on: platform)
    } else {
      return lines.count(unknown: "delete of nothing")
    }
    for identifier in found {
      lines.add("chat.delete", room: room, at: time) { $0.add("id", identifier.clipped) }
    }
  }
}
