import LiveEvents

extension ChatMessage {
  /// The author's role in the room according to the platform's badges. `nil` for most people, who
  /// have no badges or only badges of other kinds, such as rewards.
  var standing: String? {
    badges.withRawBytes { bytes in
      let known = bytes.split(separator: UInt8(ascii: ","), maxSplits: Self.mostBadges)
        .prefix(Self.mostBadges).compactMap { badge in
          // A number after the slash is the badge's version.
          let name = badge.prefix { $0 != UInt8(ascii: "/") }
          return Self.standings.firstIndex { $0.name.utf8.elementsEqual(name) }
        }
      return known.min().map { Self.standings[$0].label }
    }
  }

  /// The maximum number of badges that are read, since badges are untrusted text.
  private static let mostBadges = 16

  /// The known badges, most important first.
  private static let standings = [
    (name: "broadcaster", label: "host"), (name: "moderator", label: "mod"),
    (name: "vip", label: "VIP"), (name: "subscriber", label: "sub"),
    (name: "founder", label: "sub"),
  ]
}
