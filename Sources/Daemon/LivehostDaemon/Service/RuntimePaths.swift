import Foundation
import Glibc

/// The directories of the sockets and of the state.
package struct RuntimePaths: Sendable, Equatable {
  package var runtimeDirectory: String
  package var stateDirectory: String
  /// Whether the service manager created the state directory, which it may do as a symbolic link.
  package private(set) var isStateManaged = false

  package var controlSocket: String { runtimeDirectory + "/io.livehost.Control" }
  package var ingestSocket: String { runtimeDirectory + "/ingest" }

  /// Creates the given paths, or derives them from the environment.
  ///
  /// The state directory is the first of: `stateDirectory`, systemd's `$STATE_DIRECTORY`,
  /// `$XDG_STATE_HOME/livehost`, `~/.local/state/livehost`. The runtime directory is the first of:
  /// `runtimeDirectory`, `$XDG_RUNTIME_DIR/livehost`, `/tmp/livehost-UID`.
  package init(
    runtimeDirectory: String?, stateDirectory: String?,
    environment: [String: String] = ProcessInfo.processInfo.environment, userID: UInt32 = getuid()
  ) {
    let runtimeHome = environment["XDG_RUNTIME_DIR"].flatMap { $0.isEmpty ? nil : $0 }
    self.runtimeDirectory =
      runtimeDirectory ?? runtimeHome.map { $0 + "/livehost" } ?? "/tmp/livehost-\(userID)"
    let managed = environment["STATE_DIRECTORY"]?.split(separator: ":").first.map(String.init)
    let stateHome = environment["XDG_STATE_HOME"].flatMap { $0.isEmpty ? nil : $0 }
    self.stateDirectory =
      stateDirectory ?? managed ?? stateHome.map { $0 + "/livehost" }
      ?? (environment["HOME"] ?? "") + "/.local/state/livehost"
    isStateManaged = stateDirectory == nil && managed != nil
  }

  /// Creates the runtime directory with access only for its owner, unless it exists. Throws
  /// ``DaemonError`` if it cannot be created or written, or if other users can change it.
  package func makeRuntimeDirectory() throws(DaemonError) {
    if mkdir(runtimeDirectory, 0o700) == 0 { return }
    switch errno {
    case EEXIST:
      if let problem = DirectorySafety.problem(at: runtimeDirectory, option: "--runtime-dir") {
        throw .runtimeDirectory(runtimeDirectory, problem)
      }
      guard access(runtimeDirectory, W_OK | X_OK) == 0 else {
        throw .runtimeDirectory(
          runtimeDirectory, "is not writable; choose another directory with --runtime-dir")
      }
    case ENOENT:
      throw .runtimeDirectory(
        runtimeDirectory,
        "its parent directory does not exist; create it or choose another one with --runtime-dir")
    case let code:
      throw .runtimeDirectory(runtimeDirectory, String(cString: strerror(code)))
    }
  }
}

/// Why the daemon did not start.
package enum DaemonError: Error, CustomStringConvertible {
  case runtimeDirectory(String, String)
  case stateDirectory(String, String)
  case socket(String)
  case activation(String)

  package var description: String {
    switch self {
    case .runtimeDirectory(let path, let problem): "runtime directory \(path): \(problem)"
    case .stateDirectory(let path, let problem): "state directory \(path): \(problem)"
    case .socket(let problem): problem
    case .activation(let problem): "socket activation: \(problem)"
    }
  }
}
