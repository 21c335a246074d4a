import ArgumentParser
import ControlInterface
import LiveEvents

struct ChatModesVerb: ActVerb {
  static let configuration = CommandConfiguration(
    commandName: "modes", abstract: "Change who may write in the chat, and how often.",
    discussion: ActHelp.discussion(
      "Modes without an option stay as they are. 'livehostctl show ROOM chat' shows the modes. For "
        + "example:",
      "livehostctl chat modes main --slow 30s --followers-only 10m",
      "livehostctl chat modes main --slow off"))

  @OptionGroup(title: "Global options") var global: GlobalOptions
  @Argument(help: "Name of the room.") var room: RoomName
  @Option(
    help: ArgumentHelp(
      "Wait between two messages of a person, such as 30s; or 'off'.", valueName: "duration|off"))
  var slow: SlowMode?
  @Option(
    help: ArgumentHelp(
      "Only people who have followed the channel for a time, such as 10m, may write; or 'on' for "
        + "all followers; or 'off'.", valueName: "duration|on|off"))
  var followersOnly: FollowersMode?
  @Option(help: ArgumentHelp("Only subscribers may write.", valueName: "on|off"))
  var subscribersOnly: ModeSwitch?
  @Option(help: ArgumentHelp("Only emotes are allowed.", valueName: "on|off"))
  var emoteOnly: ModeSwitch?
  @Option(help: ArgumentHelp("Messages must be unique.", valueName: "on|off"))
  var uniqueOnly: ModeSwitch?
  @OptionGroup var route: ActRoute

  private var modes: ChatModesReport {
    ChatModesReport(
      slowSeconds: slow?.seconds, emoteOnly: emoteOnly.map { $0 == .on },
      followersOnlyMinutes: followersOnly?.minutes,
      subscribersOnly: subscribersOnly.map { $0 == .on }, uniqueOnly: uniqueOnly.map { $0 == .on })
  }

  func validate() throws {
    guard modes != ChatModesReport() else {
      throw ValidationError("name at least one mode to change, such as --slow 30s")
    }
  }

  func act(_ context: Context) async throws -> PlatformActReport {
    PlatformActReport(kind: .setChatModes, modes: modes)
  }
}

struct ChatShieldVerb: ActVerb {
  static let configuration = CommandConfiguration(
    commandName: "shield",
    abstract: "Turn the platform's protection against attacks on the chat on or off.",
    discussion: ActHelp.discussion())

  @OptionGroup(title: "Global options") var global: GlobalOptions
  @Argument(help: "Name of the room.") var room: RoomName
  @Argument(help: "Whether the protection is on.") var position: ModeSwitch
  @OptionGroup var route: ActRoute

  func act(_ context: Context) async throws -> PlatformActReport {
    PlatformActReport(kind: .setShield, on: position == .on)
  }
}
