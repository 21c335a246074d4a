// A room's snapshots contain texts and messages as plain text, without escapes.

extension Text: Codable {
  public init(from decoder: any Decoder) throws {
    self.init(try decoder.singleValueContainer().decode(String.self))
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(String(self))
  }
}

extension ChatMessage: Codable {
  private enum CodingKeys: String, CodingKey {
    case id, userID, userName, badges, color, text, replyTo, bits, channel, isAction, emotes, kind
  }

  /// - Throws: `DecodingError.dataCorrupted` for more emotes than a message may have.
  public init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    let positions = try values.decodeIfPresent([Int].self, forKey: .emotes) ?? []
    guard positions.count <= 2 * EmoteRanges.limit else {
      throw DecodingError.dataCorruptedError(
        forKey: .emotes, in: values, debugDescription: "more than \(EmoteRanges.limit) emotes")
    }
    self.init(
      id: try values.decode(String.self, forKey: .id),
      userID: try values.decode(String.self, forKey: .userID),
      userName: try values.decode(String.self, forKey: .userName),
      badges: try values.decodeIfPresent(String.self, forKey: .badges) ?? "",
      color: try values.decodeIfPresent(String.self, forKey: .color).flatMap { NameColor($0) },
      text: try values.decode(String.self, forKey: .text),
      replyTo: try values.decodeIfPresent(String.self, forKey: .replyTo) ?? "",
      bits: try values.decodeIfPresent(UInt32.self, forKey: .bits) ?? 0,
      channel: try values.decodeIfPresent(String.self, forKey: .channel) ?? "",
      isAction: try values.decodeIfPresent(Bool.self, forKey: .isAction) ?? false,
      emotes: EmoteRanges.paired(positions) ?? [],
      kind: try values.decodeIfPresent(String.self, forKey: .kind) ?? "")
  }

  /// Omits values that most messages lack.
  public func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    try values.encode(id, forKey: .id)
    try values.encode(userID, forKey: .userID)
    try values.encode(userName, forKey: .userName)
    if !badges.isEmpty { try values.encode(badges, forKey: .badges) }
    if let color { try values.encode(color.description, forKey: .color) }
    try values.encode(text, forKey: .text)
    if !replyTo.isEmpty { try values.encode(replyTo, forKey: .replyTo) }
    if bits != 0 { try values.encode(bits, forKey: .bits) }
    if !channel.isEmpty { try values.encode(channel, forKey: .channel) }
    if isAction { try values.encode(true, forKey: .isAction) }
    try values.encodeIfPresent(emotePositions, forKey: .emotes)
    if !kind.isEmpty { try values.encode(kind, forKey: .kind) }
  }
}
