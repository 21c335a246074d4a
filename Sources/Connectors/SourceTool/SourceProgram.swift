import ArgumentParser
import Glibc
import LiveSources
import UnixSignals
import YAMLReader

/// The process `livehost-source`.
public enum SourceProgram {
  /// Runs with the arguments, environment and signals of the process. Returns the exit code.
  public static func main() async -> Int32 {
    signal(SIGPIPE, SIG_IGN)
    var plan: SourcePlan
    do {
      let command = try SourceCommand.parseAsRoot()
      switch command {
      case let command as any ForegroundCommand:
        plan = command.plan()
        try plan.configuration.readMapping()
      case let command as RunSourceCommand:
        if command.printDefaultConfig {
          write(SourceConfiguration.commentedDefaults, to: STDOUT_FILENO)
          return 0
        }
        plan = try command.plan()
        try plan.configuration.readMapping()
        if command.checkConfig {
          complain("the configuration is fine")
          return 0
        }
      case let command as LoginCommand:
        return await ended { try await command.run { write($0 + "\n", to: STDOUT_FILENO) } }
      default:
        var command = command
        try command.run()
        return 0
      }
    } catch let error as ConfigurationError {
      complain(error.description)
      return 78
    } catch {
      return report(error)
    }
    return await run(plan)
  }

  private static func run(_ plan: SourcePlan) async -> Int32 {
    let reporter = SourceReporter(json: plan.json)
    let credentials = getenv("CREDENTIALS_DIRECTORY").map { String(cString: $0) }
    let state = getenv("STATE_DIRECTORY").map { String(cString: $0) }
    let run = SourceRun(
      plan.configuration, name: plan.name, credentials: credentials, state: state,
      report: reporter.report)
    return await ended(report: reporter.fail) { try await run.run() }
  }

  /// Runs `body` until it ends or a signal interrupts it. Returns the exit code.
  private static func ended(
    report fail: (String) -> Void = complain, _ body: @escaping @Sendable () async throws -> Void
  ) async -> Int32 {
    // Until all signals are trapped, a signal kills the process. Anything that requires an orderly
    // shutdown must begin afterwards.
    let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm, .sighup)
    let task = Task { try await body() }
    let interruption = Task { for await _ in signals { task.cancel() } }
    defer { interruption.cancel() }
    do {
      try await task.value
      return 0
    } catch let error as SourceError {
      fail(error.description)
      return error.exitCode
    } catch is CancellationError {
      return 130
    } catch {
      fail("\(error)")
      return 1
    }
  }

  /// Prints help or the problem with the arguments. Returns the exit code.
  private static func report(_ error: any Error) -> Int32 {
    let text = SourceCommand.fullMessage(for: error)
    let isHelp = SourceCommand.exitCode(for: error).isSuccess
    let message = text.hasPrefix("Error: ") ? String(text.dropFirst(7)) : text
    if isHelp { write(text + "\n", to: STDOUT_FILENO) } else { complain(message) }
    return isHelp ? 0 : 64
  }

  private static func complain(_ message: String) {
    write("livehost-source: \(message)\n", to: STDERR_FILENO)
  }

  private static func write(_ text: String, to descriptor: Int32) {
    var text = text
    text.withUTF8 { _ = Glibc.write(descriptor, $0.baseAddress, $0.count) }
  }
}
