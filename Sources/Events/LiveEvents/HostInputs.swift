/// Something that the host does to the room, apart from its sliders and switches.
///
/// It comes as a line of the `host.` types, or by a call of the control interface.
public enum HostInput: Sendable, Hashable {
  /// `host.admit`: the host lets people in, as far as there is room.
  case admit(Admission)
  /// `host.set`: a slider is set from elsewhere, in one step; a value from 0 to 1.
  case set(control: Text, value: Double)
  /// `host.filter`: only such messages of the chat are to be seen.
  case filterChat(MessageFilter)
  /// `host.highlight`: names whose mention in the chat is marked.
  case highlight(names: [Text])
  /// `host.scroll`: where in the chat the host reads.
  case scroll(ScrollPlace)
  /// `host.thread`: the thread that a message began, or answers in; `nil` closes the one that is open.
  case openThread(messageID: Text?)
  /// `host.notice`: what becomes of a notice.
  case notice(number: Int, NoticeHandling)
}

/// Whom the host lets in.
public enum Admission: Sendable, Hashable {
  /// Whoever has waited longest.
  case next
  case all
  /// Somebody, by identifier.
  case person(Text)
}

/// Which messages are to be seen: all that is set must hold. With nothing set, all are.
public struct MessageFilter: Sendable, Hashable {
  /// The identifier of their author.
  public var person: Text?
  /// Words that occur in them, in whatever case.
  public var words: Text?
  public var mentionsOnly: Bool

  public init(person: Text? = nil, words: Text? = nil, mentionsOnly: Bool = false) {
    self.person = person
    self.words = words
    self.mentionsOnly = mentionsOnly
  }
}

/// Where in the chat the host reads.
public enum ScrollPlace: String, Sendable, CaseIterable {
  /// Older messages; what comes is unread.
  case back
  /// The newest.
  case end
}

/// What becomes of a notice.
public enum NoticeHandling: String, Sendable, CaseIterable { case pin, unpin, dismiss }

/// Bounds of what a host asks for: what is longer is refused, since each message is compared with it.
public enum HostLimits {
  /// Time stamps that are taken: 1970 to the end of the year 9999, in milliseconds.
  public static let timestamps: ClosedRange<Timestamp> = 0...253_402_300_799_999
  /// The longest words, name or identifier, in bytes.
  public static let textLength = 256
  /// The most names whose mention is marked.
  public static let names = 32
}
