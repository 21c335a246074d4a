package import Logging
import Synchronization

/// A log level that all handlers of a process share and that can be changed at run time.
/// swift-log's loggers are values, so existing loggers would not receive a new level otherwise.
package final class SharedLogLevel: Sendable {
  private let index: Atomic<Int>

  package init(_ level: Logger.Level) {
    index = Atomic(Self.index(of: level))
  }

  package var level: Logger.Level {
    get { Logger.Level.allCases[index.load(ordering: .relaxed)] }
    set { index.store(Self.index(of: newValue), ordering: .relaxed) }
  }

  private static func index(of level: Logger.Level) -> Int {
    Logger.Level.allCases.firstIndex(of: level) ?? 0
  }
}
