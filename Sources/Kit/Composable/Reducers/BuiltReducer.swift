/// One step of a composed reducer.
public struct ReducerStep<State, Action: Sendable> {
  /// The tag of the only case it reacts to; `nil` if it sees every action.
  @usableFromInline let tag: Int?
  @usableFromInline let run: (inout State, Action) -> Effect<Action>
  /// The children it runs, for counters: for which case, whom.
  @usableFromInline let children: [(tag: Int, child: any ActionCounting)]

  @inlinable
  init(
    tag: Int?, children: [(tag: Int, child: any ActionCounting)],
    _ run: @escaping (inout State, Action) -> Effect<Action>
  ) {
    self.tag = tag
    self.run = run
    self.children = children
  }

  /// A step that sees every action.
  @inlinable
  public init(_ run: @escaping (inout State, Action) -> Effect<Action>) {
    self.init(tag: nil, children: [], run)
  }
}

/// Counts of actions by kind, of a reducer and the children below it.
public protocol ActionCounting: AnyObject {
  /// Adds the counts of this level and below, each kind as a path such as `chat.messages`.
  func collectCounts(prefix: String, into counts: inout [(kind: String, count: UInt64)])
}

/// A reducer whose composition is resolved: for each case of the action, one function that runs the
/// steps that react to it.
///
/// Not `Sendable`: belongs to the store that built it, and counts its actions.
public final class BuiltReducer<State, Action: Sendable> {
  @usableFromInline typealias Run = (inout State, Action) -> Effect<Action>

  let steps: [ReducerStep<State, Action>]
  let names: [String]
  @usableFromInline let tag: ((Action) -> Int)?
  // Plain memory: an array would be retained and bounds-checked on every send.
  @usableFromInline let table: UnsafeMutablePointer<Run>
  @usableFromInline let counts: UnsafeMutablePointer<UInt64>
  private var size: Int { max(1, names.count) }

  @inlinable
  public convenience init(_ steps: [ReducerStep<State, Action>]) {
    self.init(steps, runs: [Self.chain(steps.map(\.run))], tag: nil, names: [])
  }

  @inlinable
  public convenience init(
    _ steps: [ReducerStep<State, Action>], tag: @escaping (Action) -> Int, names: [String]
  ) {
    let runs = names.indices.map { index in
      Self.chain(steps.filter { $0.tag == nil || $0.tag == index }.map(\.run))
    }
    self.init(steps, runs: runs, tag: names.isEmpty ? nil : tag, names: names)
  }

  @usableFromInline
  init(
    _ steps: [ReducerStep<State, Action>], runs: [Run], tag: ((Action) -> Int)?, names: [String]
  ) {
    self.steps = steps
    self.tag = tag
    self.names = names
    table = .allocate(capacity: max(1, names.count))
    counts = .allocate(capacity: max(1, names.count))
    for index in 0..<max(1, names.count) {
      (table + index).initialize(to: index < runs.count ? runs[index] : { _, _ in .none })
    }
    counts.initialize(repeating: 0, count: size)
  }

  deinit {
    table.deinitialize(count: size)
    table.deallocate()
    counts.deallocate()
  }

  /// Runs the steps that react to `action`, in the order of the composition. O(reacting steps).
  @inlinable
  public func reduce(into state: inout State, action: Action) -> Effect<Action> {
    let index = tag?(action) ?? 0
    counts[index] &+= 1
    return table[index](&state, action)
  }

  /// One function that runs all of `runs` in order.
  @inlinable
  static func chain(_ runs: [Run]) -> Run {
    switch runs.count {
    case 0: return { _, _ in .none }
    case 1: return runs[0]
    default:
      let first = runs[0]
      let rest = chain(Array(runs.dropFirst()))
      return { state, action in
        var effect = first(&state, action)
        effect.append(rest(&state, action))
        return effect
      }
    }
  }
}

extension BuiltReducer: ActionCounting {
  @usableFromInline var children: [(tag: Int, child: any ActionCounting)] {
    steps.flatMap(\.children)
  }

  public func collectCounts(prefix: String, into result: inout [(kind: String, count: UInt64)]) {
    for (index, name) in names.enumerated() where counts[index] > 0 {
      let path = prefix.isEmpty ? name : "\(prefix).\(name)"
      let below = children.filter { $0.tag == index }
      if below.isEmpty { result.append((path, counts[index])) }
      for (_, child) in below { child.collectCounts(prefix: path, into: &result) }
    }
  }
}
