import ControlInterface
import Foundation
import NIOPosix
import SocketTestSupport
import Testing

/// A `livehostd` process for one test, with private directories and a notify socket. The process
/// ends with the test.
final class RunningDaemon {
  static let binaries = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    .deletingLastPathComponent()

  let directory: URL
  let process: Process
  let notifications: NotifySocket
  var runtimeDirectory: String { directory.appendingPathComponent("run").path }
  var controlSocket: String { runtimeDirectory + "/io.livehost.Control" }
  var ingestSocket: String { runtimeDirectory + "/ingest" }

  /// Starts the daemon and waits until it sends READY=1.
  ///
  /// - Parameter starting: called after the process has started, before READY=1.
  init(
    arguments: [String] = [], environment: [String: String] = [:],
    starting: (RunningDaemon) throws -> Void = { _ in }
  ) throws {
    directory = try temporaryDirectory()
    notifications = try NotifySocket(path: directory.appendingPathComponent("notify").path)
    process = Process()
    process.executableURL = Self.binaries.appendingPathComponent("livehostd")
    process.arguments =
      [
        "--runtime-dir", directory.appendingPathComponent("run").path, "--state-dir",
        directory.appendingPathComponent("state").path,
      ] + arguments
    process.environment = try programEnvironment()
      .merging(["NOTIFY_SOCKET": notifications.path]) { $1 }.merging(environment) { $1 }
    process.standardError = try FileHandle(
      forWritingTo: makeFile(directory.appendingPathComponent("log")))
    try process.run()
    try starting(self)
    try notifications.wait(for: "READY=1")
  }

  /// The output of the daemon's log so far.
  var log: String {
    (try? String(contentsOf: directory.appendingPathComponent("log"), encoding: .utf8)) ?? ""
  }

  /// Ends the daemon with SIGTERM, as systemd does, and returns its exit status.
  func stop() -> Int32 {
    process.terminate()
    process.waitUntilExit()
    return process.terminationStatus
  }

  /// Kills the daemon with SIGKILL.
  func kill() {
    Foundation.kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  func withControl<R>(_ body: (ControlClient) async throws -> R) async throws -> R {
    let client = try await ControlClient.connect(path: controlSocket)
    return try await body(client)
  }

  func ctl(_ arguments: String..., input: String? = nil) throws -> Outcome {
    try run("livehostctl", ["--socket", controlSocket] + arguments, input: input)
  }

  deinit {
    if process.isRunning {
      kill()
    }
    try? FileManager.default.removeItem(at: directory)
  }
}

/// The exit status and the output of a program.
struct Outcome {
  let status: Int32
  let output: String
  let diagnostics: String

  func json() throws -> [String: Any] {
    try #require(try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: Any])
  }
}

/// Runs a program of this package and waits for its end.
func run(
  _ program: String, _ arguments: [String], environment: [String: String] = [:],
  input: String? = nil
) throws -> Outcome {
  let directory = try temporaryDirectory()
  defer { try? FileManager.default.removeItem(at: directory) }
  let process = Process()
  process.executableURL = RunningDaemon.binaries.appendingPathComponent(program)
  process.arguments = arguments
  process.environment = try programEnvironment().merging(environment) { $1 }
  // Files, unlike pipes, need no concurrent reader.
  let output = directory.appendingPathComponent("output")
  let diagnostics = directory.appendingPathComponent("diagnostics")
  let source = directory.appendingPathComponent("input")
  try Data((input ?? "").utf8).write(to: source)
  process.standardInput = try FileHandle(forReadingFrom: source)
  process.standardOutput = try FileHandle(forWritingTo: makeFile(output))
  process.standardError = try FileHandle(forWritingTo: makeFile(diagnostics))
  try process.run()
  process.waitUntilExit()
  return Outcome(
    status: process.terminationStatus, output: try String(contentsOf: output, encoding: .utf8),
    diagnostics: try String(contentsOf: diagnostics, encoding: .utf8))
}

/// Returns the environment of a program under test, with a temporary home directory. Only a fixed
/// set of variables is inherited, so that a developer's own settings have no effect.
func programEnvironment() throws -> [String: String] {
  let kept = [
    "PATH", "LD_LIBRARY_PATH", "TMPDIR", "TZ", "LANG", "LC_ALL", "LD_PRELOAD", "TSAN_OPTIONS",
    "ASAN_OPTIONS", "UBSAN_OPTIONS",
  ]
  return try ProcessInfo.processInfo.environment.filter { kept.contains($0.key) }
    .merging(["HOME": allTemporaryFiles.get().path]) { $1 }
}

/// Whether this program and the programs that it starts are built with a sanitizer.
let isSanitized = ["ASAN_OPTIONS", "TSAN_OPTIONS"].contains {
  ProcessInfo.processInfo.environment[$0] != nil
}

/// Creates a directory, which is removed at the end of this process at the latest.
func temporaryDirectory() throws -> URL {
  let directory = try allTemporaryFiles.get()
    .appendingPathComponent(String(UUID().uuidString.prefix(8)))
  try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
  return directory
}

private let allTemporaryFiles = Result<URL, any Error> {
  let directory = FileManager.default.temporaryDirectory
    .appendingPathComponent("livehost-test-\(getpid())")
  try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
  atexit {
    if case .success(let url) = allTemporaryFiles { try? FileManager.default.removeItem(at: url) }
  }
  return directory
}

func makeFile(_ url: URL) -> URL {
  _ = FileManager.default.createFile(atPath: url.path, contents: nil)
  return url
}

/// Returns the absolute path of a file in the repository.
func repositoryFile(_ path: String) -> String {
  URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("../../\(path)").standardizedFileURL.path
}
