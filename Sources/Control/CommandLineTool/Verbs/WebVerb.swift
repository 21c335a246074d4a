import ArgumentParser

struct WebVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "web", abstract: "Show the rooms in a browser, until Ctrl-C.",
    discussion: """
      Starts livehost-web on the loopback address and prints two links. Anyone with the first link \
      can read and act. The second link is for overlays in OBS, which can only read. Both are \
      valid until Ctrl-C.

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
    let arguments = ["--socket", sockets.control, "--port", "\(port)"]
    throw context.replaceProcess(
      with:
        "livehost-web", of: "livehost-web", arguments + (context.wantsJSON ? ["--json"] : []))
  }
}
