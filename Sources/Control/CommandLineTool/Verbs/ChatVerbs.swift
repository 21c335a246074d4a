import ArgumentParser
import ControlInterface
import enum ControlInterface.ScrollPosition
import JSON
import LiveEvents
import Wording

struct ChatVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "chat", abstract: "Filter, highlight, scroll and pin what a room's chat shows.",
    subcommands: [
      ChatFilterVerb.self, ChatHighlightVerb.self, ChatScrollVerb.self, ChatThreadVerb.self,
      ChatNoticesVerb.self, ChatPinVerb.self, ChatUnpinVerb.self, ChatDismissVerb.self,
    ])

  // So that they may stand before the inner verb, as before any other.
  @OptionGroup(title: "Global options") var global: GlobalOptions
}

struct ChatFilterVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "filter", abstract: "Show only some of the messages; without options, all.",
    discussion: """
      All that is asked for must hold. Messages that do not pass are counted all the same. For \
      instance:
        livehostctl chat filter main --words 'new song'
        livehostctl chat filter main
      JSON: an object with passing, the number of messages kept that pass.
      """)

  @OptionGroup(title: "Global options") var global: GlobalOptions
  @Argument(help: "Name of the room.") var room: RoomName
  @Option(help: ArgumentHelp("Only those of this author.", valueName: "id")) var user: HostText?
  @Option(help: ArgumentHelp("Only those with these words, in whatever case.", valueName: "text"))
  var words: HostText?
  @Flag(help: "Only those that mention somebody named by 'chat highlight'.") var mentions = false

  func run(_ context: Context) async throws {
    let filter = ChatFilterReport(
      user: user?.text, words: words?.text, mentionsOnly: mentions ? true : nil)
    try await context.act(.filterChat(filter), in: room) {
      ["\(Format.count($0.passing ?? 0, "message")) shown"]
    }
  }
}

struct ChatHighlightVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "highlight", abstract: "Mark the messages that mention one of these names.",
    discussion: """
      A mention is @ and the name as a whole word, in whatever case. Without names none is marked.
      JSON: an object with mentions, the number of messages kept that mention one of them.
      """)

  @OptionGroup(title: "Global options") var global: GlobalOptions
  @Argument(help: "Name of the room.") var room: RoomName
  @Argument(help: "The names, at most 32.") var names: [HostText] = []

  func validate() throws {
    guard names.count <= ChatEvent.maximumHighlightedNames else {
      throw ValidationError("at most \(ChatEvent.maximumHighlightedNames) names can be marked")
    }
  }

  func run(_ context: Context) async throws {
    // As people write it in a chat, too.
    let names = names.map(\.text).map { $0.hasPrefix("@") ? String($0.dropFirst()) : $0 }
    try await context.act(.highlight(names: names.filter { !$0.isEmpty }), in: room) {
      [Format.count($0.mentions ?? 0, "mention")]
    }
  }
}

struct ChatScrollVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "scroll", abstract: "Look back at older messages, or go to the newest.",
    discussion: """
      While scrolled back, messages that come are counted as unread.
      JSON: an object with unread.
      """)

  @OptionGroup(title: "Global options") var global: GlobalOptions
  @Argument(help: "Name of the room.") var room: RoomName
  @Argument(help: "back or end.") var position: ScrollPosition

  func run(_ context: Context) async throws {
    try await context.act(.scroll(position), in: room) { _ in [] }
  }
}

struct ChatThreadVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "thread", abstract: "Show the thread of a message, and keep it up to date.",
    discussion: """
      The thread is that which the message began, or in which it answers; 'show ROOM chat --json=pretty'
      tells identifiers. Without a message the thread is closed.
      JSON: an object with messages.
      """)

  @OptionGroup(title: "Global options") var global: GlobalOptions
  @Argument(help: "Name of the room.") var room: RoomName
  @Argument(help: "Identifier of the message.") var message: HostText?

  func run(_ context: Context) async throws {
    try await context.act(.openThread(message: message?.text), in: room) {
      ($0.messages ?? []).map {
        "\(TerminalText.sanitized($0.user.name)): \(TerminalText.sanitized($0.text))"
      }
    }
  }
}

struct ChatNoticesVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "notices", abstract: "List the last notices with their numbers.",
    discussion: """
      Subscriptions, gifts, raids and the like; a gift bomb and its gifts are one.
      JSON: an array of objects with number, kind, user, count, timestamp and pinned.
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
    return TerminalText.sanitized(text)
  }
}

struct ChatPinVerb: NoticeVerb {
  static let configuration = CommandConfiguration(
    commandName: "pin", abstract: "Keep a notice in front of newer ones.",
    discussion: "At most 16 can be pinned. JSON: an empty object.")
  static let handling = NoticeHandlingReport.pin

  @OptionGroup(title: "Global options") var global: GlobalOptions
  @OptionGroup var subject: NoticeArguments
}

struct ChatUnpinVerb: NoticeVerb {
  static let configuration = CommandConfiguration(
    commandName: "unpin", abstract: "Let a notice go when newer ones come.",
    discussion: "JSON: an empty object.")
  static let handling = NoticeHandlingReport.unpin

  @OptionGroup(title: "Global options") var global: GlobalOptions
  @OptionGroup var subject: NoticeArguments
}

struct ChatDismissVerb: NoticeVerb {
  static let configuration = CommandConfiguration(
    commandName: "dismiss", abstract: "Take a notice off the screen.",
    discussion: "Late gifts of a gift bomb do not bring it back. JSON: an empty object.")
  static let handling = NoticeHandlingReport.dismiss

  @OptionGroup(title: "Global options") var global: GlobalOptions
  @OptionGroup var subject: NoticeArguments
}

/// A verb that does one thing to a notice.
protocol NoticeVerb: Verb {
  static var handling: NoticeHandlingReport { get }
  var subject: NoticeArguments { get }
}

struct NoticeArguments: ParsableArguments {
  @Argument(help: "Name of the room.") var room: RoomName
  @Argument(help: "Its number; 'livehostctl chat notices ROOM' lists them.") var notice: Int
}

extension NoticeVerb {
  func run(_ context: Context) async throws {
    try await context.act(.handleNotice(subject.notice, Self.handling), in: subject.room) { _ in []
    }
  }
}

extension Context {
  fileprivate func act(
    _ act: HostAct, in room: RoomName, text: (HostReply) -> [String]
  ) async throws {
    let reply = try await withDaemon { try await $0.act(act, in: room.description) }
    try print(JSONValue(encoding: reply)) { text(reply) }
  }
}
