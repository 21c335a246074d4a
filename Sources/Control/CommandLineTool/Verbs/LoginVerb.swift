import ArgumentParser

struct LoginVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "login", abstract: "Log in to a platform, for sources that need it.",
    subcommands: [LoginTwitchVerb.self])

  // So that they may precede the inner verb, like any other.
  @OptionGroup(title: "Global options") var global: GlobalOptions
}

struct LoginTwitchVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "twitch", abstract: "Log in to Twitch, with any browser.",
    discussion: """
      Prints an address and a code. Whoever opens the address in a browser, on any machine, and confirms the \
      code, allows 'livehostctl connect' to read: chat, followers, subscriptions, bits, hype trains, polls, \
      predictions and redemptions. The login is written to a file that only its owner can read, and is renewed \
      there. Needs an application of the type 'public', registered once at dev.twitch.tv/console.

      JSON: a line with address, code and expiresIn (seconds), then one with account, once it is allowed.
      """)

  @OptionGroup(title: "Global options") var global: GlobalOptions
  @Option(help: ArgumentHelp("Identifier of the application.", valueName: "id"))
  var clientId: String
  @Option(
    help: ArgumentHelp(
      "File to write; default: livehost/twitch.json in the configuration of the user.",
      valueName: "file"),
    completion: .file())
  var file: String?
  @Option(help: ArgumentHelp("Server of logins instead of Twitch's.", valueName: "url"))
  var auth: String?

  func run(_ context: Context) async throws {
    var words = ["login-twitch", "--client-id", clientId]
    if let file { words += ["--file", file] }
    if let auth { words += ["--auth", auth] }
    if context.wantsJSON { words.append("--json") }
    throw context.become("livehost-source", of: "livehost-sources", words)
  }
}
