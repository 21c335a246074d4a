import Glibc
import Synchronization

/// The pager of the user's choice, which shows text taller than the terminal.
struct Pager: Sendable {
  /// The options passed to `less` unless the user has set `LESS`: keep colours, cut long lines,
  /// leave the text on the terminal after quitting, and quit on Ctrl-C.
  private static let lessOptions = "FRSXMK"
  private static let running = Atomic<Bool>(false)

  /// Whether a pager is running. While one is running, it handles Ctrl-C.
  static var isRunning: Bool { running.load(ordering: .relaxed) }

  private let command: String

  /// Chooses `$PAGER`, or else the first of `less` and `more` that is installed. Fails if none is
  /// found, or if `$PAGER` is empty or `cat`.
  init?(_ environment: ProcessEnvironment) {
    if let chosen = environment.variables["PAGER"] {
      guard !chosen.isEmpty, chosen != "cat" else { return nil }
      command = chosen
    } else {
      let directories = environment.variable("PATH")?.split(separator: ":") ?? []
      let installed = ["less", "more"].first { name in
        directories.contains { access("\($0)/\(name)", X_OK) == 0 }
      }
      guard let installed else { return nil }
      command = installed
    }
  }

  /// Shows text and returns when the user quits the pager. Returns `false` if the pager does not
  /// exist.
  func show(_ bytes: [UInt8]) -> Bool {
    Self.running.store(true, ordering: .relaxed)
    defer { Self.running.store(false, ordering: .relaxed) }
    // The shell command sets `LESS`, so that this process need not change its own environment.
    guard let pipe = popen("LESS=\"${LESS-\(Self.lessOptions)}\" \(command)", "w") else {
      return false
    }
    // Quitting the pager before all text is written is not an error.
    _ = bytes.withUnsafeBytes { fwrite($0.baseAddress, 1, $0.count, pipe) }
    let status = pclose(pipe)
    let isNotFound = status >> 8 & 0xFF == 127
    return !isNotFound
  }
}
