import JSON
import LiveEvents

/// The members of a message of Social Stream Ninja, documented in its "Live Event Reference"
/// (https://socialstream.ninja/docs/event-reference.html). A member with a value of an unexpected
/// type counts as absent and is listed in ``unusable``.
struct SocialStreamMessage {
  let content: JSONValue
  let meta: JSONValue
  private(set) var unusable: [String] = []

  init(_ content: JSONValue) {
    self.content = content
    meta = content["meta"] ?? .null
    unusable = Self.shape.misfits(of: content, named: "message")
    // In a viewer update, `meta` is the count itself, which is checked where it is read.
    if meta.looseNumber == nil, content.word("event")?.hasPrefix("viewer_update") != true {
      unusable += Self.metaShape.misfits(of: meta, named: "meta")
    }
  }

  private static let metaShape = JSONShape.object(["expiresAt": .time, "permanent": .truth])
  /// The members that the accessors below do not check.
  private static let shape = JSONShape.object([
    "nameColor": .test { $0.stringValue?.hasWords == false || $0.isColor || $0 == .bool(false) }
  ])

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
      recordUnusable(name)
      return nil
    }
  }

  /// Returns a text as a name. Truncates a text that is too long, and counts its member as odd.
  private mutating func name(_ member: String) -> String? {
    guard let text = text(member), text.utf8.count > EventLimits.nameLength else {
      return self.text(member)
    }
    recordUnusable(member)
    return text.clipped
  }

  private mutating func recordUnusable(_ name: String) {
    if !unusable.contains(name) { unusable.append(name) }
  }

  mutating func flag(_ name: String) -> Bool {
    switch content[name] {
    case nil, .null?, .integer(0)?: return false
    case .bool(let flag)?: return flag
    case .integer(1)?: return true
    case .string(let text)? where ["", "true", "false"].contains(text.clipped(to: 8)):
      return text == "true"
    case .integer?, .number?, .string?, .array?, .object?:
      recordUnusable(name)
      return false
    }
  }

  /// Returns the first of the named members that is a count, in `meta` or, for alerts, in
  /// `meta.tokens`.
  mutating func count(_ names: String...) -> Int? {
    for name in names {
      for object in [meta, meta["tokens"] ?? .null] {
        if let count = object.wholeCount(name) { return count }
        if object.hasValue(name) { recordUnusable("meta.\(name)") }
      }
    }
    return nil
  }

  /// Returns the first of the named members of `meta` that is text.
  mutating func metaText(_ names: String...) -> String? {
    for name in names {
      if let text = text(meta[name] ?? meta["tokens"]?[name], "meta.\(name)") { return text }
    }
    return nil
  }

  // MARK: Content

  mutating func platform() -> String {
    (text("type") ?? text("platform") ?? "").clipped(to: 64).lowercased()
  }

  /// Returns the kind of event, or `nil` for ordinary messages and for system messages without a
  /// kind.
  mutating func event() -> String? {
    if content["event"] == .bool(true) { return nil }
    return text("event")?.clipped(to: 64).lowercased()
  }

  /// Returns the number assigned by Social Stream Ninja and the platform's identifier.
  mutating func identifiers() -> (own: String?, native: String?) {
    (text("id")?.clipped, metaText("messageId")?.clipped)
  }

  /// Returns the author. A message without a name is attributed to the platform.
  mutating func user(_ platform: String) -> (user: PlatformUser, name: String?, id: String?)? {
    // Names are plain text. Anything that looks like an HTML tag is part of the name.
    let name = name("chatname")
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

  /// Returns the author's text, `[image]` if there is only an image, or `nil` if there is neither.
  mutating func words() -> String? {
    // The limit exceeds the message length of every platform, and fits into a line.
    let whole = text("chatmessage") ?? ""
    let written = whole.clipped(to: 8192)
    if written.utf8.count < whole.utf8.count { recordUnusable("chatmessage") }
    let plain = flag("textonly") ? written : HTMLText.plain(written)
    if plain.hasWords { return plain }
    let hasImage = text("contentimg") != nil || written.contains("<img")
    if hasImage { return metaText("gifLabel").map { "[image: \($0.clipped)]" } ?? "[image]" }
    // Text that consists only of HTML tags may be words in angle brackets.
    return written.hasWords ? written : nil
  }

  /// Returns the donated amount as the platform words it, or `nil` if the message is not a
  /// donation.
  mutating func donation() -> String? {
    if content["hasDonation"] == .bool(true) { return metaMoney() ?? "a donation" }
    // Zero or a negative amount is not a donation.
    if let number = content.number("hasDonation"), number <= 0 {
      if number < 0 { recordUnusable("hasDonation") }
    } else if let donationText = text("hasDonation") {
      // Some platforms add markup to the amount.
      let plain = HTMLText.plain(donationText)
      return (plain.hasWords ? plain : donationText).clipped
    }
    if let value = content["donoValue"], value != .null {
      let number = JSONValue.object(["value": value]).number("value")
      if let number, number > 0 { return "$\(number)" }
      if number == nil { recordUnusable("donoValue") }
    }
    return nil
  }

  mutating func metaMoney() -> String? {
    guard let amount = metaText("amount", "formattedAmount", "formatted_amount") else { return nil }
    return ([amount] + [metaText("currency")].compactMap { $0 }).joined(separator: " ").clipped
  }

  /// Returns the quantity in the platform's subtitle, such as `12 months` or `x5`. Skips numbers of
  /// tiers and levels.
  mutating func countInSubtitle() -> Int? { text("subtitle")?.amountInWords }
}

extension String {
  /// Whether the text contains anything except white space.
  var hasWords: Bool { !utf8.allSatisfy { $0 == 0x20 || (0x09...0x0D).contains($0) } }

  /// The first number in the text that is a quantity, with years converted to months.
  var amountInWords: Int? {
    let words = clipped(to: 512).lowercased().split { $0.isWhitespace }
    for (index, word) in words.enumerated() {
      // Only a word that begins with a digit is a number, because names may contain digits after a
      // letter.
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

  /// The number of bits in a text such as `1,000 bits`, or `nil` for any other text.
  var bits: Int? {
    let words = clipped(to: 64).lowercased().split { $0.isWhitespace }
    guard words.count == 2, words[1] == "bits" || words[1] == "bit" else { return nil }
    return String(words[0]).firstNumber.map { min($0, EventLimits.count.upperBound) }
  }
}

extension JSONValue {
  /// Returns whether a member has a value other than null, false and blank text.
  func hasValue(_ name: String) -> Bool {
    switch self[name] {
    case nil, .null?, .bool(false)?: false
    case .string(let text)?: text.hasWords
    default: true
    }
  }

  /// Returns a member's number, rounded down, or `nil` if it is outside the range of counts.
  func wholeCount(_ name: String) -> Int? {
    guard let number = number(name), number >= 0, number <= Double(EventLimits.count.upperBound)
    else { return nil }
    return Int(number)
  }

  func number(_ name: String) -> Double? { self[name]?.looseNumber }
}
