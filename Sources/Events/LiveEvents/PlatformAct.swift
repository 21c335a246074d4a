/// The kinds of act on a platform. A raw value is the kind's name in events and calls.
public enum ActKind: String, Sendable, Hashable, Codable, CaseIterable {
  case say, reply, delete, timeOut, ban, unban, announce, mark, setTitle, setCategory, shoutOut
  case setChatModes, setShield, reviewHeld
}

/// Something that the host or a moderator does on a platform, such as deleting a message.
///
/// Every value is complete and within the limits: it has each member that its kind needs, and no
/// other. Twitch, for example, clears the whole chat if a request to delete a message contains no
/// identifier, so an act without this identifier must be impossible.
public struct PlatformAct: Sendable, Hashable {
  /// The members apart from the kind. A raw value is the member's name in events and calls.
  public enum Member: String, Sendable, Hashable, CaseIterable {
    case text, message, user, seconds, reason, modes, on
  }

  /// A member that is missing, superfluous, or outside its limits.
  public struct Fault: Error, Hashable {
    public let member: Member

    public init(_ member: Member) { self.member = member }
  }

  public let kind: ActKind
  /// What to write; the new title or category; or the description of a mark.
  public let text: Text?
  /// The platform's identifier of the message.
  public let message: Text?
  public let person: Person?
  /// The duration of a time-out.
  public let seconds: Int?
  public let reason: Text?
  /// The modes to change.
  public let modes: ChatModes?
  /// Whether the shield is on, or a held message is allowed.
  public let on: Bool?

  /// The maximum length of texts and reasons in Unicode code points, as on Twitch.
  public static let textLength = 500
  /// The possible durations of a time-out, up to 14 days, as on Twitch.
  public static let seconds = 1...1_209_600

  /// Creates an act that owns its texts. Texts and reasons are single lines.
  ///
  /// - Throws: the first faulty member, in the order of ``Member``.
  public init(
    _ kind: ActKind, text: Text? = nil, message: Text? = nil, person: Person? = nil,
    seconds: Int? = nil, reason: Text? = nil, modes: ChatModes? = nil, on: Bool? = nil
  ) throws(Fault) {
    let (required, optional) = kind.members
    func check(_ member: Member, isPresent: Bool, isValid: Bool) throws(Fault) {
      guard isPresent ? required.union(optional).contains(member) : !required.contains(member),
        isValid
      else { throw Fault(member) }
    }
    try check(.text, isPresent: text != nil, isValid: text.map(Self.isLine) ?? true)
    try check(.message, isPresent: message != nil, isValid: message.map(Self.isName) ?? true)
    try check(
      .user, isPresent: person != nil,
      isValid: person.map { Self.isName($0.id) && $0.name.fits(EventLimits.nameLength) } ?? true)
    try check(
      .seconds, isPresent: seconds != nil, isValid: seconds.map(Self.seconds.contains) ?? true)
    try check(.reason, isPresent: reason != nil, isValid: reason.map(Self.isLine) ?? true)
    try check(.modes, isPresent: modes != nil, isValid: modes?.canBeRequested ?? true)
    try check(.on, isPresent: on != nil, isValid: true)
    self.kind = kind
    self.text = text?.owned()
    self.message = message?.owned()
    self.person = person.map { Person(id: $0.id.owned(), name: $0.name.owned()) }
    self.seconds = seconds
    self.reason = reason?.owned()
    self.modes = modes
    self.on = on
  }

  private static func isName(_ text: Text) -> Bool {
    !text.isEmpty && text.fits(EventLimits.nameLength)
  }

  private static func isLine(_ text: Text) -> Bool {
    // A code point has at most four bytes. This check is first, because it needs no decoding.
    guard !text.isEmpty, text.fits(4 * textLength) else { return false }
    let scalars = String(text).unicodeScalars
    return scalars.count <= textLength
      && !scalars.contains { $0.properties.generalCategory == .control }
  }
}

extension ActKind {
  fileprivate var members: (required: Set<PlatformAct.Member>, optional: Set<PlatformAct.Member>) {
    switch self {
    case .say, .announce, .setTitle, .setCategory: ([.text], [])
    case .reply: ([.text, .message], [])
    case .delete: ([.message], [])
    case .timeOut: ([.user, .seconds], [.reason])
    case .ban: ([.user], [.reason])
    case .unban, .shoutOut: ([.user], [])
    case .mark: ([], [.text])
    case .setChatModes: ([.modes], [])
    case .setShield: ([.on], [])
    case .reviewHeld: ([.message, .on], [])
    }
  }

  /// Whether the act concerns one message, which its identifier names.
  package var isAboutMessage: Bool { members.required.contains(.message) }
  /// Whether the act concerns one person.
  package var isAboutPerson: Bool { members.required.contains(.user) }
}

extension ChatModes {
  /// Whether the modes change something, and all of them are within the limits of events.
  fileprivate var canBeRequested: Bool {
    self != ChatModes() && EventLimits.count.contains(slowSeconds ?? 0)
      && (-1...EventLimits.count.upperBound).contains(followersOnlyMinutes ?? 0)
  }
}

/// The form in which states are saved. Members that the kind does not need are omitted.
extension PlatformAct: Codable {
  private enum CodingKeys: String, CodingKey {
    case kind, text, message
    case person = "user"
    case seconds, reason, modes, on
  }

  /// - Throws: `DecodingError.dataCorrupted` for an act that is not complete or exceeds a limit.
  public init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    do {
      try self.init(
        try values.decode(ActKind.self, forKey: .kind),
        text: try values.decodeIfPresent(Text.self, forKey: .text),
        message: try values.decodeIfPresent(Text.self, forKey: .message),
        person: try values.decodeIfPresent(Person.self, forKey: .person),
        seconds: try values.decodeIfPresent(Int.self, forKey: .seconds),
        reason: try values.decodeIfPresent(Text.self, forKey: .reason),
        modes: try values.decodeIfPresent(ChatModes.self, forKey: .modes),
        on: try values.decodeIfPresent(Bool.self, forKey: .on))
    } catch let fault as Fault {
      throw DecodingError.dataCorruptedError(
        forKey: .kind, in: values,
        debugDescription: "the act's member '\(fault.member.rawValue)' is not possible")
    }
  }
}

/// A request for an act on a platform. It may name the controller that carries out the act, by its
/// platform and source, and the person who acts.
public struct RequestedAct: Sendable, Hashable, Codable {
  public var act: PlatformAct
  /// The platform on which to act, or `nil` for the only one that can carry out the act.
  public var platform: Text?
  /// The source that carries out the act, or `nil` for the only one of the platform.
  public var source: Text?
  /// The name of the person who acts, if known.
  public var by: Text?

  public init(
    _ act: PlatformAct, platform: Text? = nil, source: Text? = nil, by: Text? = nil
  ) {
    self.act = act
    self.platform = platform
    self.source = source
    self.by = by
  }
}

extension RequestedAct: Bounded {
  /// Does not check the act itself: its initialiser enforces its limits.
  package func checkBounds() throws(OutOfBounds) {
    try require(names: platform, source, by, in: "platform")
  }
}
