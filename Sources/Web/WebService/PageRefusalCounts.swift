import Hummingbird
import Locking

/// Counts refused requests by reason. Callable from any thread.
final class PageRefusalCounts: Sendable {
  private let counts = Guarded<[RequestGuard.Refusal: Int]>([:])

  func count(_ refusal: RequestGuard.Refusal) { counts.withLock { $0[refusal, default: 0] += 1 } }

  /// Counts a refused request, and returns its response.
  func response(to refusal: RequestGuard.Refusal) -> Response {
    count(refusal)
    return Reply.error(refusal.status, refusal.rawValue, refusal.text)
  }

  /// The counts by reason, including reasons that never occurred.
  var all: [(reason: String, count: Int)] {
    counts.withLock { counts in
      RequestGuard.Refusal.allCases.map { ($0.rawValue, counts[$0] ?? 0) }
    }
  }
}
