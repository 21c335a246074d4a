package import Analysis
import Composable
package import LiveEvents

/// Searches a room's running chat for bursts of duplicates and highlights, outside the lane.
package struct ChatAnalysis: DependencyValue {
  /// Searches a batch. Called for one batch at a time; keeps its own state between batches.
  package var search: @Sendable (BurstSearch) async throws -> ChatFindings

  package init(search: @escaping @Sendable (BurstSearch) async throws -> ChatFindings) {
    self.search = search
  }

  /// An analysis that runs in its caller's context.
  package static var live: ChatAnalysis {
    let finders = KeptFinders()
    return ChatAnalysis { try await finders.find($0) }
  }
}
