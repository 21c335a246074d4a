import BenchmarkKit
import Foundation

/// A separate daemon process, so that its costs are not mixed with the costs of the benchmark. The
/// program is in the directory of this program.
final class DaemonProcess {
  let directory: String
  private let process = Process()

  var ingestSocket: String { directory + "/run/ingest" }

  /// Starts the daemon and waits until it accepts events.
  ///
  /// - Parameters:
  ///   - directory: the directory of the sockets, the state and the configuration. May be reused
  /// from an earlier run.
  ///   - settings: further keys of `rooms`, as YAML.
  init(in directory: String, rooms: Int, settings: String = "") throws {
    self.directory = directory
    for name in ["/run", "/state"] {
      try FileManager.default.createDirectory(
        atPath: directory + name, withIntermediateDirectories: true,
        attributes: [.posixPermissions: 0o700])
    }
    let configuration = directory + "/livehostd.yaml"
    try "rooms: {maximum: \(rooms)\(settings.isEmpty ? "" : ", \(settings)")}\n".write(
      toFile: configuration, atomically: true, encoding: .utf8)
    process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
      .deletingLastPathComponent().appendingPathComponent("livehostd")
    process.arguments = [
      "--config", configuration, "--runtime-dir", directory + "/run", "--state-dir",
      directory + "/state",
    ]
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    while true {
      guard process.isRunning else { throw POSIXError(.ECHILD) }
      if let socket = try? BenchmarkSocket(path: ingestSocket), (try? socket.sync()) != nil {
        return
      }
      Harness.wait(until: Harness.now() + 5_000_000)
    }
  }

  /// Stops the daemon as a service manager does, and waits for its end.
  func stop() {
    process.terminate()
    process.waitUntilExit()
  }

  /// The processor time of the daemon, in nanoseconds.
  var processorTime: Double {
    // Fields of /proc/PID/stat are counted after the name in parentheses, which may contain spaces.
    // The times are fields 14 and 15.
    let fields = file("stat").split(separator: ")").last?.split(separator: " ") ?? []
    guard fields.count > 12, let user = Double(fields[11]), let system = Double(fields[12]) else {
      return 0
    }
    return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK))) * 1e9
  }

  /// The resident memory of the daemon, in bytes.
  var residentBytes: Int {
    let fields = file("statm").split(separator: " ")
    return (fields.count > 1 ? Int(fields[1]) ?? 0 : 0) * Int(sysconf(Int32(_SC_PAGESIZE)))
  }

  private func file(_ name: String) -> String {
    (try? String(contentsOfFile: "/proc/\(process.processIdentifier)/\(name)", encoding: .utf8))
      ?? ""
  }
}
