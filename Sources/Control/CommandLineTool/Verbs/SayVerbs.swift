import ArgumentParser
import ControlInterface
import LiveEvents

struct ChatSayVerb: ActVerb {
  static let configuration = CommandConfiguration(
    commandName: "say", abstract: "Write a message in the chat.",
    discussion: ActHelp.discussion(
      "For example:", "livehostctl chat say main 'Back in five minutes'",
      "date | livehostctl chat say main -"))

  @OptionGroup(title: "Global options") var global: GlobalOptions
  @Argument(help: "Name of the room.") var room: RoomName
  @Argument(help: "The message; '-' means standard input.") var text: LineArgument
  @OptionGroup var route: ActRoute

  func act(_ context: Context) async throws -> PlatformActReport {
    PlatformActReport(kind: .say, text: try await text.text(context))
  }
}

struct ChatReplyVerb: ActVerb {
  static let configuration = CommandConfiguration(
    commandName: "reply", abstract: "Reply to a message in the chat.",
    discussion: ActHelp.discussion())

  @OptionGroup(title: "Global options") var global: GlobalOptions
  @Argument(help: "Name of the room.") var room: RoomName
  @Argument(help: ActHelp.message, completion: .messages) var message: HostText
  @Argument(help: "The reply; '-' means standard input.") var text: LineArgument
  @OptionGroup var route: ActRoute

  func act(_ context: Context) async throws -> PlatformActReport {
    PlatformActReport(kind: .reply, text: try await text.text(context), message: message.text)
  }
}

struct ChatAnnounceVerb: ActVerb {
  static let configuration = CommandConfiguration(
    commandName: "announce", abstract: "Write a highlighted announcement in the chat.",
    discussion: ActHelp.discussion())

  @OptionGroup(title: "Global options") var global: GlobalOptions
  @Argument(help: "Name of the room.") var room: RoomName
  @Argument(help: "The announcement; '-' means standard input.") var text: LineArgument
  @OptionGroup var route: ActRoute

  func act(_ context: Context) async throws -> PlatformActReport {
    PlatformActReport(kind: .announce, text: try await text.text(context))
  }
}

struct TitleVerb: ActVerb {
  static let configuration = CommandConfiguration(
    commandName: "title", abstract: "Change the title of the stream on its platform.",
    discussion: ActHelp.discussion())

  @OptionGroup(title: "Global options") var global: GlobalOptions
  @Argument(help: "Name of the room.") var room: RoomName
  @Argument(help: "The title; '-' means standard input.") var title: LineArgument
  @OptionGroup var route: ActRoute

  func act(_ context: Context) async throws -> PlatformActReport {
    PlatformActReport(kind: .setTitle, text: try await title.text(context))
  }
}

struct CategoryVerb: ActVerb {
  static let configuration = CommandConfiguration(
    commandName: "category", abstract: "Change the category of the stream on its platform.",
    discussion: ActHelp.discussion())

  @OptionGroup(title: "Global options") var global: GlobalOptions
  @Argument(help: "Name of the room.") var room: RoomName
  @Argument(help: "The category, such as the name of a game; '-' means standard input.")
  var category: LineArgument
  @OptionGroup var route: ActRoute

  func act(_ context: Context) async throws -> PlatformActReport {
    PlatformActReport(kind: .setCategory, text: try await category.text(context))
  }
}

struct MarkVerb: ActVerb {
  static let configuration = CommandConfiguration(
    commandName: "mark", abstract: "Mark this moment of the stream on its platform.",
    discussion: ActHelp.discussion("The platform shows the marks when the stream is edited."))

  @OptionGroup(title: "Global options") var global: GlobalOptions
  @Argument(help: "Name of the room.") var room: RoomName
  @Argument(help: "Description of the moment; '-' means standard input.")
  var description: LineArgument?
  @OptionGroup var route: ActRoute

  func act(_ context: Context) async throws -> PlatformActReport {
    PlatformActReport(kind: .mark, text: try await description?.text(context))
  }
}
