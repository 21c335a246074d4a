import ArgumentParser
import JSON
import ProgramArguments
import WebService

/// Prints the links of the service.
struct LinkCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "link", abstract: "Print the links of the service.",
    discussion: "See 'livehostctl web link --help'.")

  @OptionGroup var arguments: WebLinkArguments
  @OptionGroup var output: CommandOutput

  func run() throws {
    try output.reporting {
      let links = try PageLinks.ofService(arguments.linkFile)
      output.print(
        ["page": .string(links.page), "overlay": .string(links.overlay)],
        links.text + (arguments.qr ? CommandOutput.code(links.page) : ""))
    }
  }
}
