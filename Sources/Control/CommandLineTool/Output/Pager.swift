import Glibc
import Synchronization

/// Shows text that is taller than the terminal page by page, with the pager that the user chose.
struct Pager: Sendable {
  /// How `less` behaves unless the user says otherwise in LESS: it keeps colours, cuts long lines,
  /// leaves the text on the terminal, and Ctrl-C ends it.
  private static let lessOptions = "FRSXMK"
  private static let running = Atomic<Bool>(false)

  /// Whether Ctrl-C is currently meant for the pager.
  static var isRunning: Bool { running.load(ordering: .relaxed) }

  private let command: String

  /// `$PAGER`, or else `less` or `more`, whichever is installed; `nil` if there is none, or if
  /// `$PAGER` is empty or `cat`.
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

  /// Returns when the user quits the pager; `false` if the program does not exist.
  func show(_ bytes: [UInt8]) -> Bool {
    Self.running.store(true, ordering: .relaxed)
    defer { Self.running.store(false, ordering: .relaxed) }
    // In the shell, so that nothing changes in this process.
    guard let pipe = popen("LESS=\"${LESS-\(Self.lessOptions)}\" \(command)", "w") else {
      return false
    }
    // Quitting before everything is written is not an error.
    _ = bytes.withUnsafeBytes { fwrite($0.baseAddress, 1, $0.count, pipe) }
    let status = pclose(pipe)
    let isNotFound = status >> 8 & 0xFF == 127
    return !isNotFound
  }
}
