import Locking
import SystemSupport

/// The recordings that are being read. May be used from any thread.
final class RecordingUses: Sendable {
  private let counts = Guarded<[String: Int]>([:])

  /// Protects a recording from being deleted while the returned value exists.
  func begin(_ recording: String) -> RecordingUse {
    counts.withLock { $0[recording, default: 0] += 1 }
    return RecordingUse { [self] in
      counts.withLock { $0[recording] = $0[recording].flatMap { $0 > 1 ? $0 - 1 : nil } }
    }
  }

  func contains(_ recording: String) -> Bool { counts.withLock { $0[recording] != nil } }
}

/// Protects a recording from being deleted while it is read.
final class RecordingUse: Sendable {
  private let end: @Sendable () -> Void

  init(end: @escaping @Sendable () -> Void) { self.end = end }

  deinit { end() }
}
