import Synchronization

/// How many requests were refused, by reason. May be used from any thread.
final class RefusalCounts: Sendable {
  private let counts = Mutex<[RequestGuard.Refusal: Int]>([:])

  func note(_ refusal: RequestGuard.Refusal) { counts.withLock { $0[refusal, default: 0] += 1 } }

  /// By the names of the reasons, those that never occurred included.
  var all: [(reason: String, count: Int)] {
    counts.withLock { counts in
      RequestGuard.Refusal.allCases.map { ($0.rawValue, counts[$0] ?? 0) }
    }
  }
}
