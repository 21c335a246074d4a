public import Composable

/// The views of one screen. Once per frame, the graph evaluates the views whose data changed.
///
/// Parents are evaluated before their children. A view is evaluated if a field that it read
/// changed, if one of its optional children appeared or disappeared, or if its parent was evaluated
/// and passed down the child's tracked state. Not `Sendable`: a graph belongs to the lane of its
/// store.
public final class ViewGraph {
  private var root: ViewInstance!
  private var lastID = 0
  private var readers: [ViewID: Any] = [:]
  private var points: [ViewID: Any] = [:]
  private var dirty: [ViewInstance] = []
  private let clock: any EvaluationClock
  private var changedOutputs: [ViewID] = []

  /// The number of frames that evaluated at least one view.
  public private(set) var frames: UInt64 = 0
  /// The statistics of each kind of view, by name.
  public private(set) var statistics: [String: ViewStatistics] = [:]
  /// The newest evaluations of each kind of view.
  public private(set) var log = EvaluationLog()
  /// A closure that is called after each evaluation.
  public var onEvaluation: ((EvaluationRecord) -> Void)?
  /// A closure that is called with the identity and name of each view that leaves the screen.
  public var onRemoval: ((ViewID, String) -> Void)?

  /// Puts `view` on the screen. `place` is the observation node of the view's state, and `read`
  /// returns that state. The view is evaluated in the first frame. The clock is notified of each
  /// evaluation.
  public init<V: View>(
    _ view: V, place: ObservationPoint<V.State>, clock: any EvaluationClock,
    read: @escaping () -> V.State?
  ) {
    self.clock = clock
    root = makeInstance(view, node: place.makeNode(), point: place, depth: 0, read: read)
    mark(root, .firstAppearance)
  }

  /// Puts `view` on the screen, with a clock that is a function returning monotonic nanoseconds.
  public convenience init<V: View>(
    _ view: V, place: ObservationPoint<V.State>, clock: @escaping () -> UInt64,
    read: @escaping () -> V.State?
  ) {
    self.init(view, place: place, clock: FunctionClock(clock), read: read)
  }

  deinit { root?.remove() }

  /// Whether the changes delivered so far require an evaluation.
  public var isDirty: Bool { !dirty.isEmpty }

  /// Returns the current output of a view; `nil` unless it is on the screen and evaluated.
  public func output(of id: ViewID) -> ViewNode? { find(id, below: root)?.output }

  /// Calls `body` with each evaluated view on the screen, parents first. The output is meant for
  /// subscribers, so its scrolling lists include the earlier rows.
  public func forEachView(_ body: (_ id: ViewID, _ name: String, _ output: ViewNode) -> Void) {
    root?.visit(body)
  }

  /// Returns the fields that the views with this name read in their last evaluation, without
  /// ignored fields. Sorted; empty if no such view is on the screen.
  public func reads(of view: String) -> [String] {
    guard let root else { return [] }
    var names: Set<String> = []
    root.collectReads(of: view, into: &names)
    return names.sorted()
  }

  /// The identity of the root view.
  public var rootID: ViewID { root.id }

  /// Evaluates the views whose data changed. Deliver the store's changes before the call.
  ///
  /// - Returns: The views whose output changed, parents first.
  @discardableResult
  public func evaluateFrame() -> [ViewID] {
    guard !dirty.isEmpty else { return [] }
    frames += 1
    changedOutputs = []
    // An evaluation marks no view, because the state does not change during a frame.
    let queue = dirty.sorted { ($0.depth, $0.id) < ($1.depth, $1.id) }
    dirty = []
    for instance in queue where instance.lastFrame != frames {
      guard let cause = instance.pendingCause else { continue }
      _ = evaluate(instance, cause, instance.pendingTriggers)
    }
    clock.didEvaluateFrame()
    return changedOutputs
  }

  /// Evaluates a view and its children. Returns the inclusive duration in nanoseconds.
  private func evaluate(
    _ instance: ViewInstance, _ cause: EvaluationCause, _ triggers: [EvaluationTrigger]
  ) -> UInt64 {
    let isFirst = instance.lastFrame == 0
    instance.lastFrame = frames
    instance.pendingCause = nil
    instance.pendingTriggers = []
    let evaluation = Evaluation(graph: self, instance: instance)
    clock.willEvaluate(instance.name)
    let start = clock.now
    guard let output = instance.body(ViewContext(evaluation: evaluation), evaluation.reads) else {
      return 0
    }
    clock.didEvaluate(instance.name, output, isFirst: isFirst)
    let bodyEnd = clock.now
    adopt(evaluation, by: instance)
    var children: UInt64 = 0
    for (_, child, isPassedDown) in evaluation.children where child.lastFrame != frames {
      if child.lastFrame == 0 {
        children += evaluate(child, .firstAppearance, [])
      } else if isPassedDown {
        // If the child's state also changed, that change explains more than the cause of the
        // parent's evaluation.
        let own = child.pendingCause
        children += evaluate(
          child, own ?? .changedInput, own == nil ? triggers : child.pendingTriggers)
      }
    }
    let isSame = instance.output == output
    if !isSame {
      instance.output = output
      changedOutputs.append(instance.id)
    }
    let exclusive = bodyEnd &- start
    let record = EvaluationRecord(
      frame: frames, view: instance.id, name: instance.name, cause: cause,
      fields: names(of: cause, in: instance), triggers: triggers, start: start,
      inclusive: exclusive + children, exclusive: exclusive, isAvoidable: isSame)
    statistics[instance.name, default: ViewStatistics()].add(record)
    log.add(record)
    onEvaluation?(record)
    return record.inclusive
  }

  /// Applies the result of an evaluation: its reads and its child views.
  private func adopt(_ evaluation: Evaluation, by instance: ViewInstance) {
    instance.observe(evaluation.reads.fields.subtracting(instance.node.ignored)) {
      [unowned self, unowned instance] fields in
      mark(instance, .ownRead(fields))
    }
    instance.observePresence(evaluation.presence) { [unowned self, unowned instance] index in
      mark(instance, .presence(index))
    }
    instance.observeStructure(evaluation.structure) { [unowned self, unowned instance] index in
      mark(instance, .presence(index))
    }
    var children: [ChildKey: ViewInstance] = [:]
    for (key, child, _) in evaluation.children { children[key] = child }
    for (key, child) in instance.children where children[key] == nil { discard(child) }
    instance.children = children
  }

  private func discard(_ instance: ViewInstance) {
    for child in instance.children.values { discard(child) }
    onRemoval?(instance.id, instance.name)
    instance.remove()
    readers[instance.id] = nil
    points[instance.id] = nil
  }

  private func mark(_ instance: ViewInstance, _ cause: EvaluationCause) {
    switch (instance.pendingCause, cause) {
    case (nil, _):
      instance.pendingCause = cause
      dirty.append(instance)
    case (.ownRead(let old), .ownRead(let new)):
      instance.pendingCause = .ownRead(old.union(new))
    default: break
    }
  }

  private func names(of cause: EvaluationCause, in instance: ViewInstance) -> [String] {
    switch cause {
    case .firstAppearance, .changedInput: return []
    case .presence(let index):
      return [instance.fieldName(index)]
    case .ownRead(var fields):
      var names: [String] = []
      while let index = fields.popFirst() { names.append(instance.fieldName(index)) }
      return names
    }
  }

  private func find(_ id: ViewID, below instance: ViewInstance) -> ViewInstance? {
    if instance.id == id { return instance }
    for child in instance.children.values {
      if let found = find(id, below: child) { return found }
    }
    return nil
  }

  /// Returns the whole screen, with the output of child views in place.
  public func screen() -> ViewNode { resolve(.child(root.id)) }

  private func resolve(_ node: ViewNode) -> ViewNode {
    guard case .child(let id) = node else { return node.mapChildren(resolve) }
    return output(of: id).map(resolve) ?? .empty
  }
}

extension ViewGraph: EvaluatingGraph {
  func makeInstance<V: View>(
    _ view: V, node: ObservationNode, point: ObservationPoint<V.State>?, depth: Int,
    read: @escaping () -> V.State?
  ) -> ViewInstance {
    lastID += 1
    let instance = ViewInstance(
      id: ViewID(number: lastID), name: V.name, depth: depth,
      fieldNames: V.State._$fieldNames, node: node,
      body: { context, reads in
        read().map { view.body(Observed($0, reads), context) }
      },
      earlierRows: { read().map(view.earlierRows) ?? [] })
    readers[instance.id] = read
    points[instance.id] = point
    return instance
  }

  func point<State>(of instance: ViewInstance, as: State.Type) -> ObservationPoint<State>? {
    points[instance.id] as? ObservationPoint<State>
  }

  func reader<State>(of instance: ViewInstance, as: State.Type) -> () -> State? {
    readers[instance.id] as? () -> State? ?? { nil }
  }
}
