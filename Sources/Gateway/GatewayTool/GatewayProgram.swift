import ArgumentParser
import Glibc

/// `livehost-gateway` as a process.
public enum GatewayProgram {
  /// Runs with the arguments, environment and signals of the process. Returns the exit code.
  public static func main() async -> Int32 {
    do {
      var command = try GatewayCommand.parseAsRoot()
      if var command = command as? any AsyncParsableCommand {
        try await command.run()
      } else {
        try command.run()
      }
      return 0
    } catch let error as GatewayError {
      report("\(error)")
      return error.exitCode
    } catch {
      let text = GatewayCommand.fullMessage(for: error)
      let message = text.hasPrefix("Error: ") ? String(text.dropFirst(7)) : text
      let isHelp = GatewayCommand.exitCode(for: error).isSuccess
      if isHelp { write(text + "\n", to: STDOUT_FILENO) } else { report(message) }
      return isHelp ? 0 : 64
    }
  }

  /// Writes a line to standard error, which goes to the journal when the program is a service.
  static func report(_ text: String) { write("livehost-gateway: \(text)\n", to: STDERR_FILENO) }

  static func write(_ text: String, to descriptor: Int32) {
    var text = text
    text.withUTF8 { _ = Glibc.write(descriptor, $0.baseAddress, $0.count) }
  }
}
