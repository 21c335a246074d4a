import ArgumentParser
import ProgramArguments

struct WebVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "web",
    abstract: "Show the rooms in a browser, and manage the links of other people.",
    usage: "livehostctl web [--port <number>]\n       livehostctl web <verb> [<arguments>]",
    discussion: "Without a verb, 'web' does the same as 'web run'.",
    subcommands: [WebRunVerb.self, WebPeopleVerb.self, WebLinkVerb.self],
    defaultSubcommand: WebRunVerb.self)

  // The options are declared here so that users can also write them before the inner verb.
  @OptionGroup(title: "Global options") var global: GlobalOptions
}

struct WebRunVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "run", abstract: "Show the rooms in a browser, until Ctrl-C (the default).",
    discussion: """
      Starts livehost-web on the loopback address and prints two links. Anyone with the first link \
      can read and act. The second link is for overlays in OBS, which can only read. Both are \
      valid until Ctrl-C. The links that 'web people' made are also valid.

      JSON: an object with page and overlay, the two links.
      """)

  @OptionGroup(title: "Global options") var global: GlobalOptions
  @Option(
    help: ArgumentHelp("Port to listen on. 0 selects a free port.", valueName: "number"))
  var port = 8317

  func validate() throws {
    guard (0...65_535).contains(port) else {
      throw ValidationError("--port must be from 0 to 65535")
    }
  }

  func run(_ context: Context) async throws {
    let sockets = try context.sockets(\.control)
    throw context.replaceWithPage(["--socket", sockets.control, "--port", "\(port)"])
  }
}

struct WebPeopleVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "people", abstract: "List, invite and remove people with personal links.",
    discussion: """
      'add NAME --role ROLE' prints a personal link to the page. The link is printed only once, \
      because only a hash of it is stored. Viewers read. Moderators also act in the chat, and handle \
      notices and the waiting room. Hosts may do everything. 'rotate NAME' prints a new link and \
      makes the old one invalid; it can also change role and expiry. 'revoke NAME' makes the link \
      invalid, and closes the person's pages. A running livehost-web notices each change.

      JSON: for list, an array of objects with name, role, created, rotated, expires (null if never) \
      and expired; for add and rotate, an object with name, role, expires and link; for revoke, an \
      empty object.
      """)

  @OptionGroup(title: "Global options") var global: GlobalOptions
  @OptionGroup var arguments: WebPeopleArguments

  func run(_ context: Context) async throws {
    throw context.replaceWithPage(["people"] + context.ownArguments)
  }
}

struct WebLinkVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "link", abstract: "Print the links of the service livehost-web.",
    discussion: """
      Only root and the group livehost can read the links. A QR code takes a link to a phone.

      JSON: an object with page and overlay, the two links.
      """)

  @OptionGroup(title: "Global options") var global: GlobalOptions
  @OptionGroup var arguments: WebLinkArguments

  func run(_ context: Context) async throws {
    throw context.replaceWithPage(["link"] + context.ownArguments)
  }
}

extension Context {
  fileprivate func replaceWithPage(_ arguments: [String]) -> Failure {
    // Options must precede the `--` in front of positional arguments.
    let json = wantsJSON ? ["--json"] : []
    let at = arguments.firstIndex(of: "--") ?? arguments.endIndex
    return replaceProcess(
      with: "livehost-web", of: "livehost-web",
      Array(arguments[..<at]) + json + Array(arguments[at...]))
  }
}
