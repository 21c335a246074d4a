import Dispatch
import Glibc

/// `livehostctl` as a process.
public enum Program {
  /// Runs with the process's own arguments, environment, output and signals; gives the exit code.
  public static func main() async -> Int32 {
    let tool = CommandLineTool(console: .standard(), surroundings: .process())
    let arguments = Array(CommandLine.arguments.dropFirst())
    let task = Task { await tool.run(arguments) }
    let signals = InterruptSignals { task.cancel() }
    let status = await task.value
    signals.stop()
    return status.rawValue
  }
}

/// Turns the signals that ask a program to end into a call; a second one ends it at once.
private final class InterruptSignals: Sendable {
  private let sources: [any DispatchSourceSignal]

  init(_ interrupt: @escaping @Sendable () -> Void) {
    let queue = DispatchQueue(label: "signals")
    let count = Count()
    sources = [SIGINT, SIGTERM, SIGHUP].map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
      source.setEventHandler {
        if count.isFirst() { interrupt() } else { _exit(ExitStatus.interrupted.rawValue) }
      }
      source.activate()
      return source
    }
  }

  func stop() { for source in sources { source.cancel() } }
}

/// Used on one queue only.
private final class Count: @unchecked Sendable {
  private var calls = 0
  func isFirst() -> Bool {
    calls += 1
    return calls == 1
  }
}

extension Surroundings {
  /// Those of this process.
  static func process() -> Surroundings {
    var variables: [String: String] = [:]
    var entry = environ
    while let text = entry.pointee {
      let parts = String(cString: text).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      if parts.count == 2 { variables[String(parts[0])] = String(parts[1]) }
      entry += 1
    }
    var path = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let length = path.withUnsafeMutableBytes { buffer in
      readlink("/proc/self/exe", buffer.baseAddress?.assumingMemoryBound(to: CChar.self), buffer.count)
    }
    let program = length > 0 ? String(decoding: path[..<length], as: UTF8.self) : nil
    return Surroundings(
      variables: variables, userID: getuid(),
      programDirectory: program.map { Paths.directory(of: $0) })
  }
}

/// Paths as text.
enum Paths {
  static func directory(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }
}
