package import Analysis
import Composable
package import LiveEvents

/// Searches the running chat of a room for waves and highlights, off the lane.
package struct ChatAnalysis: DependencyValue {
  /// Searches a batch. Called for one batch after the other; remembers what it needs for the next.
  package var search: @Sendable (WaveSearch) async throws -> ChatFindings

  package init(search: @escaping @Sendable (WaveSearch) async throws -> ChatFindings) {
    self.search = search
  }

  /// One that works where it is called.
  package static var live: ChatAnalysis {
    let finders = KeptFinders()
    return ChatAnalysis { try await finders.find($0) }
  }
}
