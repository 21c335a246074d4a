import ArgumentParser
import JSON
import LiveEvents
import LiveSources
import NIOCore
import NIOPosix
import ProgramArguments
import TwitchEvents

/// Logs in to Twitch for `livehostctl login twitch`.
struct LoginCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "login-twitch", abstract: "Log in to Twitch with a browser on any machine.")

  @Option(
    help: ArgumentHelp("Identifier of an application registered with Twitch.", valueName: "id"))
  var clientId: String
  @Option(
    help: ArgumentHelp(
      "Acts to allow, separated by commas, such as say,delete, or all. Default: none.",
      valueName: "acts"))
  var acts: String?
  @Option(help: ArgumentHelp("File to write.", valueName: "file"))
  var file: String?
  @Option(help: ArgumentHelp("Login server to use instead of Twitch's.", valueName: "url"))
  var auth = EventSubSettings.Servers().logins
  @Option(
    help: ArgumentHelp(
      "PEM file of authorities to trust instead of the system's.", valueName: "file"))
  var ca: String?
  @OptionGroup var output: OutputOptions

  func validate() throws {
    _ = try privateAddress(auth, of: "--auth")
    _ = try acts.map(SourceTool.acts)
  }

  /// Runs until the user confirms the code or it expires.
  func run(show: @escaping @Sendable (String) -> Void) async throws {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let loop = group.next()
    let ended = loop.makePromise(of: Void.self)
    let run = LoginRun(
      clientID: clientId, server: try privateAddress(auth, of: "--auth"),
      acts: try acts.map(SourceTool.acts) ?? [], file: file ?? EventSubOptions.standardFile,
      certificates: ca, json: output.json, show: show)
    let box = try await loop.submit {
      let process = try LoginProcess(run, eventLoop: loop, ended: ended)
      return NIOLoopBound(process, eventLoop: loop)
    }.get()
    let result: Result<Void, any Error>
    do {
      try await withTaskCancellationHandler {
        try await ended.futureResult.get()
      } onCancel: {
        loop.execute { box.value.cancel() }
      }
      result = .success(())
    } catch {
      result = .failure(error)
    }
    try await group.shutdownGracefully()
    try result.get()
  }
}

private struct LoginRun: Sendable {
  var clientID: String
  var server: HTTPAddress
  var acts: [ActKind]
  var file: String
  var certificates: String?
  var json: Bool
  var show: @Sendable (String) -> Void
}

/// Performs the effects of a ``DeviceLogin``. Belongs to one event loop.
private final class LoginProcess {
  private let run: LoginRun
  private let security: PeerSecurity?
  private let eventLoop: any EventLoop
  private let ended: EventLoopPromise<Void>
  private var login: DeviceLogin
  private var fetch: HTTPFetch?
  private let timer = SourceTimer()

  init(_ run: LoginRun, eventLoop: any EventLoop, ended: EventLoopPromise<Void>) throws {
    self.run = run
    self.eventLoop = eventLoop
    self.ended = ended
    security = run.server.isEncrypted ? try PeerSecurity(certificates: run.certificates) : nil
    login = DeviceLogin(
      clientID: run.clientID, server: run.server, acts: run.acts)
    settle()
  }

  private func settle() {
    for effect in login.takeEffects() { perform(effect) }
    timer.set(login.deadline, on: eventLoop) { [self] in
      login.wake(at: SourceDelivery.now)
      settle()
    }
  }

  private func perform(_ effect: DeviceLogin.Effect) {
    switch effect {
    case .ask(let request):
      fetch = HTTPFetch(request, security: security, eventLoop: eventLoop) { [self] result in
        fetch = nil
        let answer = try? result.get()
        login.answered(
          answer?.status, (try? JSONValue(parsing: answer?.body ?? [])) ?? .null,
          at: SourceDelivery.now)
        settle()
      }
    case .show(let address, let code, let seconds):
      show(
        "Open \(address) and confirm the code \(code), within \(seconds / 60) minutes.",
        ["address": .string(address), "code": .string(code), "expiresIn": .integer(Int64(seconds))])
    case .done(var login):
      login.file = run.file
      do {
        try login.save()
        show(
          "Logged in as \(login.account ?? "?"); written to \(run.file).",
          ["account": .string(login.account ?? "")])
        end(nil)
      } catch {
        end(error)
      }
    case .refused(let reason): end(.refused(reason))
    }
  }

  private func show(_ text: String, _ members: [JSONName: JSONValue]) {
    run.show(
      run.json
        ? String(decoding: JSONValue.object(members).serialized(), as: UTF8.self)
        : SourceReporter.printable(text))
  }

  private func end(_ error: SourceError?) {
    cancelWork()
    if let error { ended.fail(error) } else { ended.succeed() }
  }

  private func cancelWork() {
    timer.stop()
    fetch?.cancel()
    fetch = nil
  }

  /// Cancels the login after the user interrupted the program.
  func cancel() {
    cancelWork()
    ended.fail(CancellationError())
  }
}
