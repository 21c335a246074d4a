import Synchronization
package import TerminalScreen

/// A console that stores its output.
package final class Capture: Sendable {
  private let output = Mutex<[UInt8]>([])
  private let diagnosticText = Mutex("")

  package init() {}

  package var text: String { output.withLock { String(decoding: $0, as: UTF8.self) } }
  package var diagnostics: String { diagnosticText.withLock { $0 } }

  package func console(onWrite: @escaping @Sendable () -> Void = {}) -> Console {
    Console(
      write: { bytes in
        self.output.withLock { $0 += bytes }
        onWrite()
      },
      diagnose: { text in self.diagnosticText.withLock { $0 += text } })
  }
}
