package import JSON
import SystemSupport
package import TerminalScreen

/// The console, environment and sockets that a running verb uses.
package struct Context: Sendable {
  package var console: Console
  package var environment: ProcessEnvironment
  package var mode: JSONMode
  package var socketOption: String?
  /// The verb's arguments as the user wrote them, without the global options, for passing on to
  /// another program.
  package var ownArguments: [String] = []

  /// Whether the user asked for JSON instead of text.
  package var wantsJSON: Bool { mode != .off }

  /// A copy of this context that never pages its output, for results that are printed as they
  /// arrive.
  package var streaming: Context {
    var context = self
    context.console.page = nil
    return context
  }

  /// Prints a result as JSON or text, depending on the mode. Output taller than the terminal is
  /// paged.
  package func print(_ value: @autoclosure () throws -> JSONValue, text: () throws -> [String])
    throws
  {
    if wantsJSON {
      try printJSON(value())
    } else {
      let lines = try text()
      if !lines.isEmpty { try console.show(Array((lines.joined(separator: "\n") + "\n").utf8)) }
    }
  }

  /// Prints a value as JSON; prints nothing if the mode is off.
  package func printJSON(_ value: JSONValue) throws {
    if let bytes = mode.text(value) { try console.show(bytes) }
  }
}

/// The environment of the program. It is passed in so that tests can provide their own environment.
package struct ProcessEnvironment: Sendable {
  package var variables: [String: String]
  package var userID: UInt32
  /// The directory of the running executable; nil if unknown.
  package var programDirectory: String?
  /// Returns monotonic nanoseconds.
  package var now: @Sendable () -> UInt64
  package var sleep: @Sendable (Duration) async throws -> Void

  package init(
    variables: [String: String], userID: UInt32, programDirectory: String? = nil,
    now: @escaping @Sendable () -> UInt64 = { MonotonicClock.nanoseconds() },
    sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
  ) {
    self.now = now
    self.sleep = sleep
    self.variables = variables
    self.userID = userID
    self.programDirectory = programDirectory
  }

  /// Whether the variables that setlocale(3) consults select the character encoding UTF-8.
  package var usesUTF8: Bool {
    let locale = variable("LC_ALL") ?? variable("LC_CTYPE") ?? variable("LANG") ?? "C"
    let name = locale.lowercased()
    return name.contains("utf-8") || name.contains("utf8")
  }

  /// The colours that text may use, according to environment variables; see no-color.org.
  package var palette: TextStyle.Palette {
    if variable("NO_COLOR") != nil { return .none }
    return ["truecolor", "24bit"].contains(variable("COLORTERM")) ? .all : .eight
  }

  /// Returns the value of a variable; nil if the variable is unset or empty.
  package func variable(_ name: String) -> String? {
    variables[name].flatMap { $0.isEmpty ? nil : $0 }
  }
}
