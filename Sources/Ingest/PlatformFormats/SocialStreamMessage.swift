import JSON
import LiveEvents

/// The members of a message of Social Stream Ninja. What each means: its "Live Event Reference"
/// (https://socialstream.ninja/docs/event-reference.html).
///
/// Whatever a member has, the message stays: a value of another type counts as absent, and its name
/// is kept.
struct SocialStreamMessage {
  let content: JSONValue
  let meta: JSONValue
  /// Members whose value is of no use.
  private(set) var odd: [String] = []

  init(_ content: JSONValue) {
    self.content = content
    meta = content["meta"] ?? .null
  }

  // MARK: Values

  mutating func text(_ name: String) -> String? { text(content[name], name) }

  private mutating func text(_ value: JSONValue?, _ name: String) -> String? {
    switch value {
    case nil, .null?, .bool(false)?: return nil
    case .string(let text)?: return text.hasWords ? text : nil
    case .integer(let integer)?: return "\(integer)"
    case .number(let number)?:
      return Int64(exactly: number).map { "\($0)" } ?? "\(number)"
    case .bool?, .array?, .object?:
      note(name)
      return nil
    }
  }

  private mutating func note(_ name: String) {
    if !odd.contains(name) { odd.append(name) }
  }

  mutating func flag(_ name: String) -> Bool {
    switch content[name] {
    case nil, .null?, .integer(0)?: return false
    case .bool(let flag)?: return flag
    case .integer(1)?: return true
    case .string(let text)? where ["", "true", "false"].contains(text.clipped(to: 8)):
      return text == "true"
    case .integer?, .number?, .string?, .array?, .object?:
      note(name)
      return false
    }
  }

  /// The first of these members of `meta`, or of the tokens of an alert, that is a count.
  mutating func count(_ names: String...) -> Int? {
    for name in names {
      for place in [meta, meta["tokens"] ?? .null] {
        if let count = place.wholeCount(name) { return count }
        if place.hasValue(name) { note("meta.\(name)") }
      }
    }
    return nil
  }

  /// The first of these members of `meta` that is text.
  mutating func metaText(_ names: String...) -> String? {
    for name in names {
      if let text = text(meta[name] ?? meta["tokens"]?[name], "meta.\(name)") { return text }
    }
    return nil
  }

  // MARK: What it is

  /// The platform, such as `youtube`.
  mutating func platform() -> String {
    (text("type") ?? text("platform") ?? "").clipped(to: 64).lowercased()
  }

  /// What happened; `nil` for a message, and for a system message whose kind is not known.
  mutating func event() -> String? {
    if content["event"] == .bool(true) { return nil }
    return text("event")?.clipped(to: 64).lowercased()
  }

  /// The number of the message at Social Stream Ninja, and what the platform calls it.
  mutating func identifiers() -> (own: String?, native: String?) {
    (text("id")?.clipped, metaText("messageId")?.clipped)
  }

  /// Who it is of. Without a name it is the platform that speaks.
  mutating func user(_ platform: String) -> (user: PlatformUser, name: String?, id: String?)? {
    // Names are plain text: what looks like a tag is part of them.
    let name = text("chatname")?.clipped
    let id = text("userid")?.clipped
    let shown =
      name ?? text("username") ?? metaText("displayName", "username", "fromLogin") ?? id
      ?? (platform.isEmpty ? "anonymous" : platform)
    let user = PlatformUser(
      id: "\(platform)/\(id ?? shown)", name: shown, badges: badges(), color: text("nameColor"))
    return user.map { ($0, name ?? text("username"), id) }
  }

  private mutating func badges() -> String {
    var badges: [String] = []
    if flag("admin") || flag("host") { badges.append("broadcaster/1") }
    if flag("moderator") || flag("mod") { badges.append("moderator/1") }
    if flag("vip") { badges.append("vip/1") }
    if text("membership") != nil { badges.append("subscriber/1") }
    return badges.joined(separator: ",")
  }

  /// What somebody wrote; an image stands for itself where there are no words. `nil` if there is
  /// nothing.
  mutating func words() -> String? {
    // Far longer than a message of any platform, and short enough for a line.
    let written = (text("chatmessage") ?? "").clipped(to: 8192)
    let plain = flag("textonly") ? written : HTMLText.plain(written)
    if plain.hasWords { return plain }
    let hasImage = text("contentimg") != nil || written.contains("<img")
    if hasImage { return metaText("gifLabel").map { "[image: \($0.clipped)]" } ?? "[image]" }
    // What is nothing but tags may be words in angle brackets.
    return written.hasWords ? written : nil
  }

  /// What was given, in the words of the platform; `nil` if no money was.
  mutating func donation() -> String? {
    if content["hasDonation"] == .bool(true) { return metaMoney() ?? "a donation" }
    // Nothing, or less, was not given.
    if let number = content.number("hasDonation"), number <= 0 {
      if number < 0 { note("hasDonation") }
    } else if let given = text("hasDonation") {
      // Some platforms decorate the amount.
      let plain = HTMLText.plain(given)
      return (plain.hasWords ? plain : given).clipped
    }
    if let value = content["donoValue"], value != .null {
      let number = JSONValue.object(["value": value]).number("value")
      if let number, number > 0 { return "$\(number)" }
      if number == nil { note("donoValue") }
    }
    return nil
  }

  /// An amount that only `meta` has.
  mutating func metaMoney() -> String? {
    guard let amount = metaText("amount", "formattedAmount", "formatted_amount") else { return nil }
    return ([amount] + [metaText("currency")].compactMap { $0 }).joined(separator: " ").clipped
  }

  /// The number in a text of the platform that says how many there are, such as `12 months` or
  /// `x5`.
  ///
  /// The number of a tier or level says nothing of that.
  mutating func countInSubtitle() -> Int? { text("subtitle")?.amountInWords }
}

extension String {
  /// Whether there is anything but white space.
  var hasWords: Bool { !utf8.allSatisfy { $0 == 0x20 || (0x09...0x0D).contains($0) } }

  /// The first number that is an amount; years are given in months.
  var amountInWords: Int? {
    let words = clipped(to: 512).lowercased().split { $0.isWhitespace }
    for (index, word) in words.enumerated() {
      // Names may have digits behind their first letter.
      guard let first = word.drop(while: { "(x~+".contains($0) }).first, first.isASCII,
        first.isNumber,
        let number = String(word).firstNumber
      else { continue }
      let former = index > 0 ? words[index - 1] : ""
      if ["tier", "level", "lv.", "#"].contains(former) || word.hasPrefix("tier") { continue }
      let next = index + 1 < words.count ? words[index + 1] : ""
      let isYears = next.hasPrefix("year") || word.hasSuffix("-year")
      return min(
        isYears ? number.multipliedReportingOverflow(by: 12).partialValue : number,
        EventLimits.count.upperBound)
    }
    return nil
  }

  /// How many bits a text such as `1,000 bits` is.
  var bits: Int? {
    let words = clipped(to: 64).lowercased().split { $0.isWhitespace }
    guard words.count == 2, words[1] == "bits" || words[1] == "bit" else { return nil }
    return String(words[0]).firstNumber.map { min($0, EventLimits.count.upperBound) }
  }
}

extension JSONValue {
  /// Whether a member says anything.
  func hasValue(_ name: String) -> Bool {
    switch self[name] {
    case nil, .null?, .bool(false)?: false
    case .string(let text)?: text.hasWords
    default: true
    }
  }

  /// A count that can be one: others are no better than none.
  func wholeCount(_ name: String) -> Int? {
    guard let number = number(name), number >= 0, number <= Double(EventLimits.count.upperBound)
    else { return nil }
    return Int(number)
  }

  func number(_ name: String) -> Double? { self[name]?.looseNumber }
}

extension NativeLines {
  private static let oddPrefix = "odd "

  /// Counts a member that had no usable value.
  mutating func note(odd member: String) { note(unknown: Self.oddPrefix + member) }

  /// What was not shown and which members fell back, for people; `nil` if there is nothing to say.
  package var remark: String? {
    func counts(_ isOdd: Bool) -> String {
      unknown.filter { $0.key.hasPrefix(Self.oddPrefix) == isOdd }
        .sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        .map { "\($0.value) \(isOdd ? String($0.key.dropFirst(Self.oddPrefix.count)) : $0.key)" }
        .joined(separator: ", ")
    }
    let (missing, odd) = (counts(false), counts(true))
    let parts = [
      missing.isEmpty ? nil : "not shown: \(missing)",
      odd.isEmpty ? nil : "odd values left out: \(odd)",
    ].compactMap { $0 }
    // A longer one would be rejected.
    return parts.isEmpty ? nil : parts.joined(separator: "; ").clipped
  }
}
