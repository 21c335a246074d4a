import Dispatch
import Glibc
import Locking
import SystemSupport
import TerminalScreen

/// `livehostctl` as a process.
public enum Program {
  /// Runs with the arguments, environment, output and signals of this process; returns the exit
  /// code.
  public static func main() async -> Int32 {
    let environment = ProcessEnvironment.current()
    let tool = CommandLineTool(console: .standard(environment), environment: environment)
    let arguments = Array(CommandLine.arguments.dropFirst())
    let (starts, start) = AsyncStream.makeStream(of: Void.self)
    let task = Task {
      for await _ in starts {}
      return await tool.run(arguments)
    }
    let signals = await InterruptSignals { task.cancel() }
    start.finish()
    let status = await task.value
    signals.stop()
    return status.rawValue
  }
}

/// Calls a closure on the first signal that asks the program to end; a second signal ends the
/// process immediately.
private struct InterruptSignals {
  private let sources: [any DispatchSourceSignal]

  /// Installs signal handlers and returns once all of them are active. Until then, a signal ends
  /// the process; if signals were ignored during the installation, one could be lost.
  init(_ interrupt: @escaping @Sendable () -> Void) async {
    let queue = DispatchQueue(label: "signals")
    let flag = FirstCallFlag()
    sources = [SIGINT, SIGTERM, SIGHUP].map { number in
      let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
      source.setEventHandler {
        guard !Pager.isRunning else { return }
        guard flag.isFirst() else {
          // When a terminal is closed, SIGHUP arrives twice, first from the shell and then from the
          // kernel. A SIGHUP that follows another signal is therefore ignored.
          guard number != SIGHUP else { return }
          DaemonProcess.abandon()
          Terminal.restoreNow()
          _exit(ExitStatus.interrupted.rawValue)
        }
        interrupt()
      }
      return source
    }
    for source in sources {
      await withCheckedContinuation { caught in
        source.setRegistrationHandler { caught.resume() }
        source.activate()
      }
    }
  }

  func stop() { for source in sources { source.cancel() } }
}

/// A flag that is set by the first of several calls.
private final class FirstCallFlag: Sendable {
  private let hasHappened = Guarded(false)

  func isFirst() -> Bool {
    hasHappened.withLock { hasHappened in
      defer { hasHappened = true }
      return !hasHappened
    }
  }
}

extension ProcessEnvironment {
  static func current() -> ProcessEnvironment {
    var variables: [String: String] = [:]
    var entry = environ
    while let text = entry.pointee {
      let parts = String(cString: text).split(
        separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      if parts.count == 2 { variables[String(parts[0])] = String(parts[1]) }
      entry += 1
    }
    var path = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let length = path.withUnsafeMutableBytes { buffer in
      buffer.withMemoryRebound(to: CChar.self) { buffer in
        buffer.baseAddress.map { readlink("/proc/self/exe", $0, buffer.count) } ?? -1
      }
    }
    let program = length > 0 ? String(decoding: path[..<length], as: UTF8.self) : nil
    return ProcessEnvironment(
      variables: variables, userID: getuid(),
      programDirectory: program.map { Paths.directory(of: $0) })
  }
}

enum Paths {
  static func directory(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }
}
