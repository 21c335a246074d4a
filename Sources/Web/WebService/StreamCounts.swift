import Synchronization

/// Counts the open streams, and the streams that were closed because a browser had stopped reading.
/// Callable from any thread.
final class StreamCounts: Sendable {
  private let open = Atomic(0)
  private let slow = Atomic(0)

  /// Counts a new stream; returns `false` if `maximum` streams are already open.
  func begin(maximum: Int) -> Bool {
    if open.wrappingAdd(1, ordering: .relaxed).newValue <= maximum { return true }
    end()
    return false
  }

  func end() { open.wrappingSubtract(1, ordering: .relaxed) }

  func countSlow() { slow.wrappingAdd(1, ordering: .relaxed) }

  var now: Int { open.load(ordering: .relaxed) }
  var closedSlow: Int { slow.load(ordering: .relaxed) }
}
