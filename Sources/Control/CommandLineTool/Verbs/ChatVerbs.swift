import ArgumentParser
import ControlInterface
import JSON
import LiveEvents
import TerminalScreen
import Wording

struct ChatVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "chat",
    abstract: "Write in the chat of a room, moderate it, and choose what is shown.",
    discussion: "The result is visible to everyone who watches the room.",
    subcommands: [
      ChatSayVerb.self, ChatReplyVerb.self, ChatAnnounceVerb.self, ChatDeleteVerb.self,
      ChatTimeoutVerb.self, ChatBanVerb.self, ChatUnbanVerb.self, ChatShoutoutVerb.self,
      ChatModesVerb.self, ChatShieldVerb.self, ChatHeldVerb.self,
      ChatFilterVerb.self, ChatHighlightVerb.self, ChatScrollVerb.self, ChatThreadVerb.self,
      ChatNoticesVerb.self, ChatPinVerb.self, ChatUnpinVerb.self, ChatDismissVerb.self,
    ])

  // The options are declared here so that users can also write them before the inner verb.
  @OptionGroup(title: "Global options") var global: GlobalOptions
}

struct ChatFilterVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "filter", abstract: "Show only messages that match the given conditions.",
    discussion: """
      A message must match every given condition; without options all messages are shown. Messages \
      that do not match are still counted. The filter applies to everyone who watches the room. \
      For example:
        livehostctl chat filter main --words 'new song'
        livehostctl chat filter main
      JSON: an object with passing, the number of stored messages that match.
      """)

  @OptionGroup(title: "Global options") var global: GlobalOptions
  @Argument(help: "Name of the room.") var room: RoomName
  @Option(help: ArgumentHelp("Only messages by this author.", valueName: "id")) var user: HostText?
  @Option(help: ArgumentHelp("Only messages with these words, ignoring case.", valueName: "text"))
  var words: HostText?
  @Flag(help: "Only messages that mention a name given to 'chat highlight'.") var mentions = false
  @Option(help: ArgumentHelp("Only messages of this platform.", valueName: "name"))
  var platform: HostText?

  func run(_ context: Context) async throws {
    try await context.print {
      try await $0.setChatFilter(
        room: room.description, user: user?.text, words: words?.text,
        mentionsOnly: mentions ? true : nil, platform: platform?.text)
    } text: {
      [Format.count($0.passing, "message passes", plural: "messages pass")]
    }
  }
}

struct ChatHighlightVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "highlight", abstract: "Highlight the messages that mention one of these names.",
    discussion: """
      A mention is @ followed by the name as a whole word, in upper or lower case. Without names, \
      nothing is highlighted. The highlights are visible to everyone who watches the room.

      JSON: an object with mentions, the number of stored messages that mention one of the names.
      """)

  @OptionGroup(title: "Global options") var global: GlobalOptions
  @Argument(help: "Name of the room.") var room: RoomName
  @Argument(help: "The names, at most 32.") var names: [HostText] = []

  func validate() throws {
    guard names.count <= ChatEvent.maximumHighlightedNames else {
      throw ValidationError(
        "at most \(ChatEvent.maximumHighlightedNames) names can be highlighted")
    }
  }

  func run(_ context: Context) async throws {
    // Users may put an @ before a name, as they do in a chat.
    let names = names.map(\.text).map { $0.hasPrefix("@") ? String($0.dropFirst()) : $0 }
    try await context.print {
      try await $0.setMentionedNames(
        room: room.description, names: names.filter { !$0.isEmpty })
    } text: {
      [Format.count($0.mentions, "mention")]
    }
  }
}

struct ChatScrollVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "scroll", abstract: "Scroll back to older messages, or to the newest.",
    discussion: """
      While the chat is scrolled back, new messages are counted as unread. The position applies to \
      everyone who watches the room.

      JSON: an object with the member unread.
      """)

  @OptionGroup(title: "Global options") var global: GlobalOptions
  @Argument(help: "Name of the room.") var room: RoomName
  @Argument(help: "Where to scroll to.") var position: ScrollPosition

  func run(_ context: Context) async throws {
    try await context.print {
      try await $0.scrollChat(room: room.description, position: position)
    }
  }
}

struct ChatThreadVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "thread", abstract: "Show the thread of a message and keep it up to date.",
    discussion: """
      Shows the thread that the message started or belongs to. 'show ROOM chat --json=pretty' \
      lists the identifiers. Without a message, the thread is closed. The thread is visible to \
      everyone who watches the room.

      JSON: an object with the member messages.
      """)

  @OptionGroup(title: "Global options") var global: GlobalOptions
  @Argument(help: "Name of the room.") var room: RoomName
  @Argument(help: "Identifier of the message.") var message: HostText?

  func run(_ context: Context) async throws {
    try await context.print {
      try await $0.showThread(room: room.description, message: message?.text)
    } text: {
      $0.messages.map {
        TerminalText.sanitized(
          "\($0.mention == true ? "* " : "")\($0.user.name): \($0.text)")
      }
    }
  }
}

struct ChatNoticesVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "notices", abstract: "List the latest notices with their numbers.",
    discussion: """
      Notices report subscriptions, gifts, raids and similar events. A gift bomb and its gifts are \
      one notice.

      JSON: an array of objects with number, kind, user, count, timestamp and pinned, and with \
      text and emotes if the viewer added a message.
      """)

  @OptionGroup(title: "Global options") var global: GlobalOptions
  @Argument(help: "Name of the room.") var room: RoomName

  func run(_ context: Context) async throws {
    let report = try await context.withDaemon {
      try await $0.getRoom(room.description, feature: .chat)
    }
    let notices = report.features.chat?.noticeQueue ?? []
    try context.print(JSONValue(encoding: notices)) {
      notices.isEmpty ? ["no notices"] : notices.map(Self.line)
    }
  }

  private static func line(_ notice: NoticeReport) -> String {
    let text = Phrase.notice(
      kind: notice.kind, name: notice.user.name, count: notice.count, number: notice.number,
      isPinned: notice.pinned)
    return TerminalText.sanitized(notice.text.map { "\(text): \($0)" } ?? text)
  }
}

struct ChatPinVerb: NoticeVerb {
  static let configuration = CommandConfiguration(
    commandName: "pin", abstract: "Keep a notice above newer notices.",
    discussion: "At most 16 notices can be pinned. JSON: an empty object.")
  static let handling = NoticeHandling.pin

  @OptionGroup(title: "Global options") var global: GlobalOptions
  @OptionGroup var subject: NoticeArguments
}

struct ChatUnpinVerb: NoticeVerb {
  static let configuration = CommandConfiguration(
    commandName: "unpin", abstract: "Allow newer notices to replace a pinned notice.",
    discussion: "JSON: an empty object.")
  static let handling = NoticeHandling.unpin

  @OptionGroup(title: "Global options") var global: GlobalOptions
  @OptionGroup var subject: NoticeArguments
}

struct ChatDismissVerb: NoticeVerb {
  static let configuration = CommandConfiguration(
    commandName: "dismiss", abstract: "Remove a notice from the screen.",
    discussion: """
      Later gifts of the same gift bomb do not bring it back. JSON: an empty object.
      """)
  static let handling = NoticeHandling.dismiss

  @OptionGroup(title: "Global options") var global: GlobalOptions
  @OptionGroup var subject: NoticeArguments
}

protocol NoticeVerb: Verb {
  static var handling: NoticeHandling { get }
  var subject: NoticeArguments { get }
}

struct NoticeArguments: ParsableArguments {
  @Argument(help: "Name of the room.") var room: RoomName
  @Argument(
    help: "Number of the notice; 'livehostctl chat notices ROOM' lists them.", completion: .notices)
  var notice: Int
}

extension NoticeVerb {
  func run(_ context: Context) async throws {
    try await context.withDaemon {
      try await $0.handleNotice(
        room: subject.room.description, notice: subject.notice, handling: Self.handling)
    }
    try context.print([:]) { [] }
  }
}

extension Context {
  /// Performs the host action that the closure calls, and prints the reply.
  fileprivate func print<Reply: Encodable>(
    _ act: (ControlClient) async throws -> Reply, text: (Reply) -> [String] = { _ in [] }
  ) async throws {
    let reply = try await withDaemon(act)
    try print(JSONValue(encoding: reply)) { text(reply) }
  }
}
