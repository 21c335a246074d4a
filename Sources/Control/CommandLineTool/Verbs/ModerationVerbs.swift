import ArgumentParser
import ControlInterface
import LiveEvents

struct ChatDeleteVerb: ActVerb {
  static let configuration = CommandConfiguration(
    commandName: "delete", abstract: "Delete a message from the chat.",
    discussion: ActHelp.discussion("Does not ask for confirmation."))

  @OptionGroup(title: "Global options") var global: GlobalOptions
  @Argument(help: "Name of the room.") var room: RoomName
  @Argument(help: ActHelp.message, completion: .messages) var message: HostText
  @OptionGroup var route: ActRoute

  func act(_ context: Context) async throws -> PlatformActReport {
    PlatformActReport(kind: .delete, message: message.text)
  }
}

struct ChatTimeoutVerb: PersonActVerb {
  static let configuration = CommandConfiguration(
    commandName: "timeout", abstract: "Stop a person from writing for a limited time.",
    discussion: ActHelp.discussion(
      "'livehostctl chat unban' lifts the time-out. For example:",
      "livehostctl chat timeout main @ann 10m --reason 'links'"))

  @OptionGroup(title: "Global options") var global: GlobalOptions
  @Argument(help: "Name of the room.") var room: RoomName
  @Argument(help: ActHelp.person) var person: PersonArgument
  @Argument(help: "Duration from 1s to 14d, such as 90s, 10m or 1h30m.")
  var duration: TimeoutDuration
  @Option(help: ActHelp.reason) var reason: LineArgument?
  @OptionGroup var route: ActRoute

  func act(_ context: Context) async throws -> PlatformActReport {
    PlatformActReport(
      kind: .timeOut, seconds: duration.seconds, reason: try await reason?.text(context))
  }
}

struct ChatBanVerb: PersonActVerb {
  static let configuration = CommandConfiguration(
    commandName: "ban", abstract: "Ban a person from the chat.",
    discussion: ActHelp.discussion(
      "Does not ask for confirmation, and prints the command that lifts the ban. For example:",
      "livehostctl chat ban main @ann --platform twitch"))

  @OptionGroup(title: "Global options") var global: GlobalOptions
  @Argument(help: "Name of the room.") var room: RoomName
  @Argument(help: ActHelp.person) var person: PersonArgument
  @Option(help: ActHelp.reason) var reason: LineArgument?
  @OptionGroup var route: ActRoute

  func act(_ context: Context) async throws -> PlatformActReport {
    PlatformActReport(kind: .ban, reason: try await reason?.text(context))
  }

  func advice(_ act: PlatformActReport, platform: String?) -> String? {
    var command = "livehostctl chat unban"
    if let platform { command += " --platform \(ShellWord.quoted(platform))" }
    if let source = route.source?.text { command += " --source \(ShellWord.quoted(source))" }
    return "to lift the ban: \(command) -- \(room) \(ShellWord.quoted(act.user?.id ?? ""))"
  }
}

struct ChatUnbanVerb: PersonActVerb {
  static let configuration = CommandConfiguration(
    commandName: "unban", abstract: "Lift the ban or the time-out of a person.",
    discussion: ActHelp.discussion())

  @OptionGroup(title: "Global options") var global: GlobalOptions
  @Argument(help: "Name of the room.") var room: RoomName
  @Argument(help: ActHelp.person) var person: PersonArgument
  @OptionGroup var route: ActRoute

  func act(_ context: Context) async throws -> PlatformActReport {
    PlatformActReport(kind: .unban)
  }
}

struct ChatShoutoutVerb: PersonActVerb {
  static let configuration = CommandConfiguration(
    commandName: "shoutout", abstract: "Recommend a person's channel to the viewers.",
    discussion: ActHelp.discussion())

  @OptionGroup(title: "Global options") var global: GlobalOptions
  @Argument(help: "Name of the room.") var room: RoomName
  @Argument(help: ActHelp.person) var person: PersonArgument
  @OptionGroup var route: ActRoute

  func act(_ context: Context) async throws -> PlatformActReport {
    PlatformActReport(kind: .shoutOut)
  }
}

struct ChatHeldVerb: ActVerb {
  static let configuration = CommandConfiguration(
    commandName: "held", abstract: "Allow or deny a message that the platform holds for review.",
    discussion: ActHelp.discussion())

  @OptionGroup(title: "Global options") var global: GlobalOptions
  @Argument(help: "Name of the room.") var room: RoomName
  @Argument(help: "Identifier of the held message.", completion: .list([])) var message: HostText
  @Argument(help: "The decision.") var verdict: HeldVerdict
  @OptionGroup var route: ActRoute

  func act(_ context: Context) async throws -> PlatformActReport {
    PlatformActReport(kind: .reviewHeld, message: message.text, on: verdict == .allow)
  }
}
