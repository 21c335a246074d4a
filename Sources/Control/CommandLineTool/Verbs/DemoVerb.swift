import ArgumentParser
import JSON

struct DemoVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "demo",
    abstract: "Run a private daemon with a recording and a simulated host.",
    discussion: """
      Shows the screens live until q or Ctrl-C, which also stops the daemon; press '?' for the \
      keys. With --once, plays at full speed, prints a summary and exits. With --web, prints a \
      link to the web page instead of showing the screens.

      JSON, with --once only: an object with the members recorded, simulated and conserved.
      """)

  @OptionGroup(title: "Global options") var global: GlobalOptions
  @Flag(help: "Play at full speed, print a summary and exit.") var once = false
  @Flag(help: "Show the screens in a browser, with livehost-web.") var web = false
  @Option(
    help: ArgumentHelp("Path of livehostd, if it is not next to this program.", valueName: "path"),
    completion: .file())
  var livehostd: String?
  @Argument(help: "Recording to play instead of the bundled one.", completion: .file())
  var file: String?

  func validate() throws {
    if global.socket != nil {
      throw ValidationError("demo starts a private daemon; remove --socket")
    }
    if once, web {
      throw ValidationError("--once ends before the web page could be opened; remove --web")
    }
    if !once, global.j || (global.json ?? .off) != .off {
      throw ValidationError("demo prints JSON only with --once")
    }
  }

  func run(_ context: Context) async throws {
    let environment = context.environment
    let recording = try Recording(path: file, programDirectory: environment.programDirectory)
    let program =
      livehostd ?? environment.programDirectory.map { "\($0)/livehostd" } ?? "livehostd"
    guard FileKind(path: program) == .regular else {
      throw Failure(
        .failed, "\(program) does not exist; give the path of livehostd with --livehostd")
    }
    let daemon = try await DaemonProcess.start(
      program: program, directory: TemporaryDirectory(base: environment.variable("TMPDIR")),
      environment: environment)
    let result: Result<DemoSummary?, any Error>
    do {
      let demo = Demo(context: context, recording: recording, daemon: daemon)
      if once {
        result = .success(try await demo.playOnce())
      } else {
        try await demo.playLive(onPage: web)
        result = .success(nil)
      }
    } catch is DemoLeftByUser {
      result = .success(nil)
    } catch { result = .failure(error) }
    let end = await daemon.stop()
    try finish(context, result, end, daemon)
  }

  private func finish(
    _ context: Context, _ result: Result<DemoSummary?, any Error>, _ end: DaemonProcess.End,
    _ daemon: DaemonProcess
  ) throws {
    switch result {
    case .success(let summary):
      if let summary {
        try context.print(summary.json()) { summary.lines }
        guard summary.isConserved else {
          throw Failure(.failed, "events were lost or are still pending")
        }
      }
    case .failure(let interrupted as PlaybackInterrupted):
      if end == .exited(0) { throw interrupted.failure }
      throw Failure(interrupted.failure.status, interrupted.failure.message + daemon.logTail)
    case .failure(let error): throw error
    }
    guard end == .exited(0) else {
      throw Failure(.failed, "livehostd did not stop properly (\(end))\(daemon.logTail)")
    }
  }
}
