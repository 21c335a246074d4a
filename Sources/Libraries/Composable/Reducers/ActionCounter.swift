/// Counts the actions of one reducer by kind. Not `Sendable`: it belongs to the reducer's store.
public final class ActionCounter {
  /// The names of the kinds, by number. Empty if kinds are not distinguished.
  public let names: [String]
  // Unmanaged memory, because an array would check its bounds and uniqueness for every action.
  @usableFromInline let counts: UnsafeMutablePointer<UInt64>
  /// The kind counted last, which other threads may read.
  @usableFromInline let latest = LatestKind()

  /// Makes a counter for the kinds with these names. If `names` is empty, all actions count as one
  /// kind.
  public init(names: [String]) {
    self.names = names
    counts = .allocate(capacity: max(1, names.count))
    counts.initialize(repeating: 0, count: max(1, names.count))
  }

  deinit { counts.deallocate() }

  /// Counts one action of the kind with this number.
  @inlinable
  func count(_ kind: Int) {
    counts[kind] &+= 1
    latest.store(kind)
  }

  /// Returns the number of actions of the kind with this number.
  public func count(ofKind kind: Int) -> UInt64 { counts[kind] }

  /// Returns the kinds of this reducer and its children, with paths such as `chat.messages`.
  func kinds(
    prefix: String = "", below children: [ChildCounter]
  ) -> [(path: String, counter: ActionCounter, number: Int)] {
    names.enumerated().flatMap { number, name in
      let path = prefix.isEmpty ? name : "\(prefix).\(name)"
      let below = children.filter { $0.tag == number && !$0.counter.names.isEmpty }
      if below.isEmpty { return [(path, self, number)] }
      return below.flatMap { $0.counter.kinds(prefix: path, below: $0.children) }
    }
  }
}

/// The counter of a child, and the kind of the parent's actions for which the child runs.
public struct ChildCounter {
  /// The number of the parent's kind of action for which the child runs.
  public let tag: Int
  /// The counter of the child's actions.
  public let counter: ActionCounter
  /// The counters of the child's own children.
  public let children: [ChildCounter]

  @inlinable
  init(tag: Int, _ child: some PreparedReducer) {
    self.tag = tag
    counter = child.counter
    children = child.childCounters
  }
}
