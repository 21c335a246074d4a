import LiveEvents

extension ChatMessage {
  /// What somebody is to the room, by the badges of platforms; empty for most, and for badges of other kinds, such as
  /// rewards.
  var standing: String {
    badges.withRawBytes { bytes in
      for badge in bytes.split(separator: UInt8(ascii: ",")).prefix(Self.mostBadges) {
        // A number after the name is its version.
        let name = badge.prefix { $0 != UInt8(ascii: "/") }
        if let known = Self.standings.first(where: { $0.name.utf8.elementsEqual(name) }) {
          return known.label
        }
      }
      return ""
    }
  }

  /// Text of strangers: more are not looked at.
  private static let mostBadges = 16

  private static let standings = [
    (name: "broadcaster", label: "[host] "), (name: "moderator", label: "[mod] "),
    (name: "vip", label: "[VIP] "),
  ]
}
