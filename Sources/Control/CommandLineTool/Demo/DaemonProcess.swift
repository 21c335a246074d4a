import Dispatch
import Glibc
import Locking
import SystemSupport

/// A private daemon that runs as a child process.
final class DaemonProcess: Sendable {
  enum End: Equatable, Sendable {
    case exited(Int32)
    case killed(signal: Int32)
  }

  private static let current = Guarded<pid_t?>(nil)
  private static let startTimeout: UInt64 = 30_000_000_000
  private static let stopTimeout: UInt64 = 15_000_000_000

  let sockets: SocketPaths
  private let process: pid_t
  private let directory: TemporaryDirectory

  static func start(
    program: String, directory: TemporaryDirectory, environment: ProcessEnvironment
  ) async throws -> DaemonProcess {
    let runtime = try directory.subdirectory("run")
    let state = try directory.subdirectory("state")
    let notify = try NotifySocket(path: "\(directory.path)/notify")
    let daemon = try DaemonProcess(
      arguments: [program, "--runtime-dir", runtime, "--state-dir", state],
      sockets: SocketPaths(directory: runtime), directory: directory,
      variables: variables(environment, notify.path))
    do {
      try await daemon.waitUntilReady(notify)
    } catch {
      _ = await daemon.stop()
      throw error
    }
    return daemon
  }

  private static func variables(_ environment: ProcessEnvironment, _ notify: String) -> [String] {
    var variables = environment.variables
    // The environment variables that a service manager set for this process do not apply to the
    // daemon.
    for name in ["WATCHDOG_USEC", "WATCHDOG_PID", "LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES"] {
      variables[name] = nil
    }
    variables["NOTIFY_SOCKET"] = notify
    return variables.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
  }

  private init(
    arguments: [String], sockets: SocketPaths, directory: TemporaryDirectory, variables: [String]
  ) throws(Failure) {
    self.sockets = sockets
    self.directory = directory
    let log = "\(directory.path)/log"
    let (code, process) = Self.spawn(arguments, variables, log: log)
    guard code == 0 else {
      throw Failure(.failed, "cannot start \(arguments[0]): \(String(cString: strerror(code)))")
    }
    self.process = process
    Self.current.withLock { $0 = process }
  }

  /// Starts the daemon in its own process group, so that Ctrl-C in the terminal does not end the
  /// daemon. This program stops the daemon instead.
  private static func spawn(
    _ arguments: [String], _ variables: [String], log: String
  ) -> (code: Int32, process: pid_t) {
    var actions = posix_spawn_file_actions_t()
    var attributes = posix_spawnattr_t()
    posix_spawn_file_actions_init(&actions)
    posix_spawnattr_init(&attributes)
    defer {
      posix_spawn_file_actions_destroy(&actions)
      posix_spawnattr_destroy(&attributes)
    }
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_addopen(
      &actions, STDOUT_FILENO, log, O_WRONLY | O_CREAT | O_APPEND, 0o600)
    posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO)
    var defaults = sigset_t()
    sigemptyset(&defaults)
    for signal in [SIGINT, SIGTERM, SIGHUP, SIGPIPE] { sigaddset(&defaults, signal) }
    posix_spawnattr_setsigdefault(&attributes, &defaults)
    posix_spawnattr_setflags(
      &attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF))
    var process: pid_t = 0
    let code = withCStrings(arguments) { pointers in
      withCStrings(variables) { variables in
        posix_spawn(&process, arguments[0], &actions, &attributes, pointers, variables)
      }
    }
    return (code, process)
  }

  private func waitUntilReady(_ notify: NotifySocket) async throws {
    let deadline = MonotonicClock.nanoseconds() + Self.startTimeout
    let wake = try WakeSignal()
    try await withTaskCancellationHandler {
      try await onThread { [self] in
        while !notify.receiveReady() {
          var waited = [notify.descriptor, wake.descriptor].map {
            pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
          }
          // No descriptor becomes readable when the daemon's process ends, so the loop checks the
          // process every 50 ms.
          _ = poll(&waited, nfds_t(waited.count), 50)
          if waited[1].revents != 0 { throw CancellationError() }
          if hasEnded, !notify.receiveReady() {
            throw Failure(.failed, "livehostd ended before it was ready\(logTail)")
          }
          if MonotonicClock.nanoseconds() > deadline {
            throw Failure(.failed, "livehostd was not ready within 30 s\(logTail)")
          }
        }
      }
    } onCancel: {
      wake.raise()
    }
  }

  private var hasEnded: Bool {
    var information = siginfo_t()
    let flags = WEXITED | WNOHANG | WNOWAIT
    return waitid(P_PID, id_t(process), &information, Int32(flags)) == 0
      && information.si_signo == SIGCHLD
  }

  /// Sends SIGTERM to the daemon and waits until the daemon has ended. Kills the daemon if it has
  /// not ended after 15 seconds. Must be called once.
  func stop() async -> End {
    kill(process, SIGTERM)
    let deadline = MonotonicClock.nanoseconds() + Self.stopTimeout
    return await onThread { [process] in
      var status: Int32 = 0
      while waitpid(process, &status, WNOHANG) == 0 {
        if MonotonicClock.nanoseconds() > deadline { kill(process, SIGKILL) }
        _ = poll(nil, 0, 10)
      }
      Self.current.withLock { $0 = nil }
      let signal = status & 0x7F
      return signal == 0 ? .exited(status >> 8 & 0xFF) : .killed(signal: signal)
    }
  }

  /// Sends SIGTERM to the running daemon, if any. Called when this process is about to end.
  static func abandon() {
    if let process = current.withLock({ $0 }) { kill(process, SIGTERM) }
  }

  /// The last ten lines of the daemon's log, as a suffix for an error message.
  var logTail: String {
    guard let text = TextFile.read("\(directory.path)/log"), !text.isEmpty else { return "" }
    return ":\n" + text.split(separator: "\n").suffix(10).joined(separator: "\n")
  }
}

/// Runs a blocking closure on a dedicated thread, so that it does not block a thread of the shared
/// pool.
func onThread<Value: Sendable, Problem: Error>(
  _ body: @escaping @Sendable () throws(Problem) -> Value
) async throws(Problem) -> Value {
  let result = await withCheckedContinuation { continuation in
    DispatchQueue(label: "blocking").async {
      continuation.resume(returning: Result(catching: body))
    }
  }
  return try result.get()
}

/// Calls `body` with the strings as a null-terminated array of C strings.
func withCStrings<Result>(
  _ strings: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
) -> Result {
  let pointers = strings.map { strdup($0) }
  defer { for pointer in pointers { free(pointer) } }
  return body(pointers + [nil])
}

enum TextFile {
  /// Returns the last 64 KiB of a file; nil if the file cannot be read.
  static func read(_ path: String) -> String? {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    let limit = 64 * 1024
    let size = lseek(file, 0, SEEK_END)
    lseek(file, max(0, size - limit), SEEK_SET)
    var bytes = [UInt8](repeating: 0, count: limit)
    let count = bytes.withUnsafeMutableBytes { Glibc.read(file, $0.baseAddress, $0.count) }
    return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
  }
}
