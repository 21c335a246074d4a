package import Logging
import Synchronization

/// A log level that all handlers of a process follow and that can be changed while it runs.
///
/// swift-log's loggers are values, so a changed level would not reach those that exist already.
package final class SharedLogLevel: Sendable {
  private let index: Atomic<Int>

  package init(_ level: Logger.Level) {
    index = Atomic(Self.index(of: level))
  }

  /// The level; any thread may read and set it.
  package var level: Logger.Level {
    get { Logger.Level.allCases[index.load(ordering: .relaxed)] }
    set { index.store(Self.index(of: newValue), ordering: .relaxed) }
  }

  private static func index(of level: Logger.Level) -> Int {
    Logger.Level.allCases.firstIndex(of: level) ?? 0
  }
}
