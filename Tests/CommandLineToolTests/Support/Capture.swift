import CommandLineTool
import Glibc
import Synchronization
import TerminalScreen
import TerminalTestSupport
import TestSupport

/// An alias for tests that import Swift Testing, which also declares an `ExitStatus`.
typealias ToolStatus = ExitStatus

/// The result of a run of the program.
struct Run {
  var status: ExitStatus
  var output: String
  var diagnostics: String
}

/// The clock of a run.
enum TestClock {
  case real
  /// Sleeping returns immediately, and advances the clock by its duration.
  case stepping
}

func run(
  _ arguments: [String], variables: [String: String] = [:], clock: TestClock = .real,
  isTerminal: Bool = false, input: [UInt8] = []
) async -> Run {
  let capture = Capture()
  var environment = ProcessEnvironment(variables: variables, userID: getuid())
  if clock == .stepping {
    let time = SteppingTime()
    environment.now = { time.nanoseconds.withLock { $0 } }
    environment.sleep = { duration in
      time.nanoseconds.withLock { $0 += UInt64(duration / .nanoseconds(1)) }
    }
  }
  var console = capture.console()
  console.isOutputTerminal = isTerminal
  console.palette = isTerminal ? .eight : .none
  console.readInput = { limit in Array(input.prefix(limit)) }
  let tool = CommandLineTool(console: console, environment: environment)
  let status = await tool.run(arguments)
  return Run(status: status, output: capture.text, diagnostics: capture.diagnostics)
}

private final class SteppingTime: Sendable {
  let nanoseconds = Mutex<UInt64>(1)
}

extension TemporaryDirectory {
  func write(_ name: String, _ bytes: some Collection<UInt8>) -> String {
    let path = "\(path)/\(name)"
    guard let file = fopen(path, "w") else { return path }
    let bytes = Array(bytes)
    fwrite(bytes, 1, bytes.count, file)
    fclose(file)
    return path
  }

  func makeDirectory(_ name: String) throws {
    struct NotMade: Error {}
    guard mkdir("\(path)/\(name)", 0o700) == 0 else { throw NotMade() }
  }

  /// Returns the text of a file that a program wrote, and removes the file. Returns an empty text
  /// if the file does not exist.
  func removeFile(_ name: String) -> String {
    guard let file = fopen("\(path)/\(name)", "r") else { return "" }
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 65_536)
    while case let count = fread(&piece, 1, piece.count, file), count > 0 {
      bytes += piece[..<count]
    }
    fclose(file)
    unlink("\(path)/\(name)")
    return String(decoding: bytes, as: UTF8.self)
  }
}

/// The bundled recording.
let bundledRecording =
  #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(4).joined(
    separator: "/")
  + "/config/recordings/chat-burst.irc.gz"
