package import LiveEvents
import Platform

/// Keeps a finder between two runs. A run that was cancelled may still be there when the next one begins; that
/// one has a new finder, which it need not share.
package final class KeptWaveFinder: Sendable {
  private let finder = Guarded<WaveFinder?>(nil)

  package init() {}

  /// Searches a batch, with what is remembered of those before.
  ///
  /// - Throws: `CancellationError`.
  package func find(_ search: WaveSearch) async throws -> ChatFindings {
    var own = finder.withLock { exchange(&$0, with: nil) } ?? WaveFinder()
    let findings = try await own.find(search)
    finder.withLock { [own] in $0 = own }
    return findings
  }
}
