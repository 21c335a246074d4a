package import LiveEvents
import Locking
import SystemSupport

/// Keeps what is remembered of a chat between two runs. A run that was cancelled may still be there
/// when the next one begins; that one begins anew, and need not share.
package final class KeptFinders: Sendable {
  private struct Finders {
    var waves = BurstFinder()
    var highlights = HighlightFinder()
    /// The run that can continue ``highlights``.
    var next = 1
  }

  private let kept = Guarded<Finders?>(nil)

  package init() {}

  /// Searches a batch, with what is remembered of those before.
  ///
  /// - Parameter sliceNanoseconds: how long it works before it yields.
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
  /// Looks at a batch that follows the one before. Returns what was found, or found anew.
  ///
  /// - Throws: `CancellationError`, after which it must not be used.
  fileprivate mutating func find(
    in batch: MessageBatch, _ slice: inout TimeSlice
  ) async throws -> [ChatHighlight] {
    for index in 0..<batch.count {
      let time = batch.time(of: index)
      let isLong = batch.withText(of: index) { add($0, at: time) }
      if isLong || index % 32 == 31 { try await slice.yieldIfDue() }
    }
    return take()
  }
}
