import ArgumentParser
import JSON
package import TerminalScreen

/// `livehostctl` as a function, which takes arguments, prints text, and returns an exit code.
package struct CommandLineTool: Sendable {
  package var console: Console
  package var environment: ProcessEnvironment

  package init(console: Console, environment: ProcessEnvironment) {
    self.console = console
    self.environment = environment
  }

  /// Runs the verb that the arguments name. The arguments do not include the program's name.
  /// Cancelling the task interrupts the verb.
  package func run(_ arguments: [String]) async -> ExitStatus {
    var console = console
    // Help is printed before options are parsed, so `--no-pager` is searched for in the raw
    // arguments.
    if arguments.contains("--no-pager") { console.page = nil }
    var mode = ArgumentOrder.mode(of: arguments, isTerminal: console.isOutputTerminal)
    do {
      guard let verb = try await parse(arguments, console) else { return .done }
      mode = verb.global.mode(isTerminal: console.isOutputTerminal)
      try await verb.run(
        Context(
          console: console, environment: environment, mode: mode,
          socketOption: verb.global.socket
            ?? (verb.global.gateway || verb is any GatewayVerb ? SocketPaths.gateway : nil),
          ownArguments: ArrangedArguments(arguments).withoutGlobalOptions))
      return .done
    } catch is OutputClosed {
      return .done
    } catch let failure as Failure {
      return report(failure, mode)
    } catch let missed as ThresholdsNotMet {
      // On a terminal, the report above has already listed the missed thresholds, so only the
      // summary is printed.
      console.warn(console.isOutputTerminal && mode == .off ? missed.summary : missed.message)
      return .thresholdsNotMet
    } catch is CancellationError {
      return report(.interrupted, mode)
    } catch {
      return report(Failure(.failed, "\(error)"), mode)
    }
  }

  /// Returns the verb with its options. If the arguments ask for help, prints the help and returns
  /// nil.
  private func parse(_ arguments: [String], _ console: Console) async throws -> (any Verb)? {
    let arranged = try ArgumentOrder.arranged(arguments)
    do {
      let command = try await Livehostctl.asyncParseAsRoot(arranged)
      if let verb = command as? any Verb { return verb }
      // The parser's own commands throw the text of the help.
      var other = command
      try other.run()
      return nil
    } catch {
      let text = Livehostctl.fullMessage(for: error, columns: console.size().columns)
      guard Livehostctl.exitCode(for: error).isSuccess else {
        let message = text.hasPrefix("Error: ") ? String(text.dropFirst(7)) : text
        throw Failure(.usage, message)
      }
      try console.show(Array((text + "\n").utf8))
      return nil
    }
  }

  private func report(_ failure: Failure, _ mode: JSONMode) -> ExitStatus {
    guard failure != .interrupted else { return failure.status }
    console.warn(failure.message)
    var error = failure.details
    error["kind"] = .string(failure.status.name)
    error["message"] = .string(failure.message)
    error["exitCode"] = .integer(Int64(failure.status.rawValue))
    if let bytes = mode.text(["error": .object(error)]) { try? console.write(bytes) }
    return failure.status
  }
}
