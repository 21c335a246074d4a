/// Counts the actions of one reducer by kind.
///
/// Not `Sendable`: belongs to the store whose reducer counts.
public final class ActionCounter {
  /// Names of the kinds, by number; empty if kinds are not distinguished.
  public let names: [String]
  // Plain memory: an array would be checked on every action.
  @usableFromInline let counts: UnsafeMutablePointer<UInt64>
  /// The kind that was counted last, for other threads to read.
  @usableFromInline let latest = LatestKind()

  /// A counter with all counts at 0.
  ///
  /// - Parameter names: of the kinds, by number; none counts all actions as one kind.
  public init(names: [String]) {
    self.names = names
    counts = .allocate(capacity: max(1, names.count))
    counts.initialize(repeating: 0, count: max(1, names.count))
  }

  deinit { counts.deallocate() }

  /// Adds one action of the kind with this number.
  @inlinable
  func count(_ kind: Int) {
    counts[kind] &+= 1
    latest.note(kind)
  }

  /// How many actions were of the kind with this number.
  public func count(ofKind kind: Int) -> UInt64 { counts[kind] }

  /// The kinds of this level and below; each has a path such as `chat.messages`.
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

/// The counter of a child, and for which kind of its parent's actions it runs.
public struct ChildCounter {
  /// The number of its parent's kind of action for which the child runs.
  public let tag: Int
  /// How often each kind of the child's actions was reduced.
  public let counter: ActionCounter
  /// Those of the child's own children.
  public let children: [ChildCounter]

  @inlinable
  init(tag: Int, _ child: some PreparedReducer) {
    self.tag = tag
    counter = child.counter
    children = child.childCounters
  }
}
