import LiveEvents

extension ChatMessage {
  /// What somebody is to the room, by the badges of platforms; `nil` for most, and for badges of other kinds, such as
  /// rewards.
  var standing: String? {
    badges.withRawBytes { bytes in
      let known = bytes.split(separator: UInt8(ascii: ","), maxSplits: Self.mostBadges)
        .prefix(Self.mostBadges).compactMap { badge in
          // A number after the name is its version.
          let name = badge.prefix { $0 != UInt8(ascii: "/") }
          return Self.standings.firstIndex { $0.name.utf8.elementsEqual(name) }
        }
      return known.min().map { Self.standings[$0].label }
    }
  }

  /// Text of strangers: more are not looked at.
  private static let mostBadges = 16

  /// The most important first.
  private static let standings = [
    (name: "broadcaster", label: "host"), (name: "moderator", label: "mod"),
    (name: "vip", label: "VIP"), (name: "subscriber", label: "sub"),
    (name: "founder", label: "sub"),
  ]
}
