package import Analysis
import Composable
package import LiveEvents
import Synchronization

/// Searches the running chat of a room for waves, off the lane.
package struct ChatAnalysis: DependencyValue {
  /// Searches a batch. Called for one batch after the other; remembers what it needs for the next.
  package var search: @Sendable (WaveSearch) async throws -> ChatFindings

  package init(search: @escaping @Sendable (WaveSearch) async throws -> ChatFindings) {
    self.search = search
  }

  /// One that works where it is called.
  package static var live: ChatAnalysis { ChatAnalysis(finder: WaveFinderBox()) }

  private init(finder: WaveFinderBox) {
    self.init { search in
      var own = finder.take()
      let findings = try await own.find(search)
      finder.put(own)
      return findings
    }
  }
}

/// Keeps a finder between two runs. A run that was cancelled may still be there when the next one begins; that
/// one has a new finder, which it need not share.
private final class WaveFinderBox: Sendable {
  private let finder = Mutex<WaveFinder?>(nil)

  // Never inlined: the lock must be returned by the thread that took it.
  @inline(never)
  func take() -> WaveFinder {
    finder.withLock { finder in
      defer { finder = nil }
      return finder ?? WaveFinder()
    }
  }

  @inline(never)
  func put(_ finder: WaveFinder) { self.finder.withLock { $0 = finder } }
}
