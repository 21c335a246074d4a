package import LiveEvents
import Locking
import SystemSupport

/// The finders of a chat between two searches.
///
/// A cancelled search may still be running when the next one begins. The new search then uses new
/// finders.
package final class KeptFinders: Sendable {
  private struct Finders {
    var waves = BurstFinder()
    var highlights = HighlightFinder()
    /// The number of the search that can continue ``highlights``.
    var next = 1
  }

  private let kept = Guarded<Finders?>(nil)

  package init() {}

  /// Searches a batch, with the texts and counts of earlier batches.
  ///
  /// - Parameter sliceNanoseconds: the time after which the search yields.
  /// - Throws: `CancellationError`.
  package func find(
    _ search: BurstSearch, sliceNanoseconds: UInt64 = 700_000
  ) async throws -> ChatFindings {
    var own = kept.withLock { exchange(&$0, with: nil) } ?? Finders()
    var slice = TimeSlice(length: sliceNanoseconds)
    var findings = try await own.waves.find(search, &slice)
    if search.run != own.next { own.highlights = HighlightFinder() }
    own.next = search.run + 1
    findings.highlights = try await own.highlights.find(in: search.batch, &slice)
    kept.withLock { [own] in $0 = own }
    return findings
  }
}

extension HighlightFinder {
  /// Searches the next batch. Returns the new and changed highlights.
  ///
  /// - Throws: `CancellationError`. The finder must not be used afterwards.
  fileprivate mutating func find(
    in batch: MessageBatch, _ slice: inout TimeSlice
  ) async throws -> [ChatHighlight] {
    for index in 0..<batch.count {
      let time = batch.time(of: index)
      let isLong = batch.withText(of: index) { add($0, at: time) }
      if isLong || index % 32 == 31 { try await slice.yieldIfDue() }
    }
    return removeFound()
  }
}
