import Synchronization

/// How many streams are open, and how many were closed because nobody read them. May be used from any thread.
final class StreamCounts: Sendable {
  private let open = Atomic(0)
  private let slow = Atomic(0)

  /// `false` if there are as many as may be.
  func begin(maximum: Int) -> Bool {
    if open.wrappingAdd(1, ordering: .relaxed).newValue <= maximum { return true }
    end()
    return false
  }

  func end() { open.wrappingSubtract(1, ordering: .relaxed) }

  func noteSlow() { slow.wrappingAdd(1, ordering: .relaxed) }

  var now: Int { open.load(ordering: .relaxed) }
  var closedSlow: Int { slow.load(ordering: .relaxed) }
}
