import ArgumentParser

struct LoginVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "login", abstract: "Log in to a platform, for sources that need a login.",
    subcommands: [LoginTwitchVerb.self])

  // The options are declared here so that users can also write them before the inner verb.
  @OptionGroup(title: "Global options") var global: GlobalOptions
}

struct LoginTwitchVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "twitch", abstract: "Log in to Twitch, with any browser.",
    discussion: """
      Prints an address and a code. Open the address in a browser, on any machine, and confirm the \
      code. This allows 'livehostctl connect' to read chat, followers, subscriptions, bits, hype \
      trains, polls, predictions and redemptions. With --acts it also allows acts of \
      the host: say, reply, delete, timeOut, ban, unban, announce, mark, setTitle, setCategory, \
      shoutOut, setChatModes, setShield, reviewHeld. A stolen login without acts can only read. \
      The login is stored in a file that only its owner can read, and is renewed there. Needs an \
      application of the type 'public', registered once at dev.twitch.tv/console.

      JSON: a line with address, code and expiresIn (seconds), then, once the code is confirmed, a \
      line with account.
      """)

  @OptionGroup(title: "Global options") var global: GlobalOptions
  @Option(help: ArgumentHelp("Identifier of the application.", valueName: "id"))
  var clientId: String
  @Option(
    help: ArgumentHelp(
      "Acts to allow, separated by commas, such as say,delete, or all. Default: none.",
      valueName: "acts"))
  var acts: String?
  @Option(
    help: ArgumentHelp(
      "File to write. Default: livehost/twitch.json in the user's configuration directory.",
      valueName: "file"),
    completion: .file())
  var file: String?
  @Option(help: ArgumentHelp("Login server to use instead of Twitch's.", valueName: "url"))
  var auth: String?

  func run(_ context: Context) async throws {
    let words = ["login-twitch"] + (context.wantsJSON ? ["--json"] : []) + context.ownArguments
    throw context.replaceProcess(with: "livehost-source", of: "livehost-sources", words)
  }
}
