import ArgumentParser
import ControlInterface

@main
struct LivehostWeb: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "livehost-web",
    abstract: "The screens of livehostd as a page in the browser and in OBS.",
    discussion: """
      Connects browsers to the control socket of livehostd. 'livehost-web run --help' lists the \
      options of the default command.
      """,
    version: "livehost-web \(livehostVersion)",
    subcommands: [RunCommand.self, PeopleCommand.self, LinkCommand.self],
    defaultSubcommand: RunCommand.self)
}
