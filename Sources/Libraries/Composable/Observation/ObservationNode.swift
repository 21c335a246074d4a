/// An observation node: a node of the state tree that is observed or has an observed descendant.
///
/// A node is identified by a store and a path of fields and elements. Nodes exist only where
/// observers exist, so the cost of a change depends only on its own observers. Not `Sendable`: a
/// node belongs to the lane of its store. Exclusivity therefore needs no run-time checks.
public final class ObservationNode {
  // The properties that a report reads come first, so that they share one or two cache lines.
  /// The fields of the state that are not reported to the observers of this node.
  @exclusivity(unchecked) public var ignored: FieldSet
  @exclusivity(unchecked) private var interest: FieldSet = []
  /// The observer of fields while there is only one, which is the usual case: it is found without
  /// searching the lists.
  @exclusivity(unchecked) private var only: Unmanaged<Observer>?
  let deliveries: ObserverQueue
  /// The observers of each field, if there are several.
  @exclusivity(unchecked) private var observers:
    ContiguousArray<ContiguousArray<Unmanaged<Observer>>> = []
  @exclusivity(unchecked) private var others: ContiguousArray<Observer> = []
  @exclusivity(unchecked) private var wasPresent = false
  // Nodes are owned manually, so that a report passes through them without reference counting.
  @exclusivity(unchecked) private var children: ContiguousArray<Unmanaged<ObservationNode>?> = []
  /// The observed elements of a collection, by slot.
  @exclusivity(unchecked) var elements: ContiguousArray<ElementNode?> = []
  /// The keys of the observed elements, needed when the whole collection is replaced.
  @exclusivity(unchecked) var elementIDs: ContiguousArray<AnyHashable?> = []
  /// Whether an observer needs lists of changed elements.
  @exclusivity(unchecked) @usableFromInline var wantsElementChanges = false
  /// The lists of changed elements that have not been delivered yet, each a `KeyedChanges`.
  @exclusivity(unchecked) var elementChanges: [Any] = []
  @exclusivity(unchecked) private var areElementChangesDelivered = false

  @usableFromInline
  init(deliveries: ObserverQueue, ignored: FieldSet = []) {
    self.deliveries = deliveries
    self.ignored = ignored
  }

  deinit {
    var owned = others
    if let only { list(only) }
    for list in observers {
      for entry in list {
        let observer = entry.takeUnretainedValue()
        // An observer of several fields is in several lists.
        if !observer.isCancelled { owned.append(observer) }
        observer.orphan()
      }
    }
    for observer in others { observer.orphan() }
    deliveries.observerCount -= owned.count
    for observer in owned { observer.releaseFromNode() }
    for child in children { child?.release() }
    for element in elements { element?.node.release() }
  }

  // MARK: Reporting

  /// Returns the node of a child, or nil if it is not observed. O(1).
  public func child(_ index: Int) -> ObservationNode? {
    unretainedChild(index)?.takeUnretainedValue()
  }

  @usableFromInline
  func unretainedChild(_ index: Int) -> Unmanaged<ObservationNode>? {
    index < children.count ? children[index] : nil
  }

  /// Queues the observers of `fields`, except those of ignored fields, and returns whether any
  /// field is not ignored. Without a node, `ignored` is the set of ignored fields.
  @usableFromInline
  static func report(_ fields: FieldSet, to node: ObservationNode?, ignored: FieldSet) -> Bool {
    guard let node = node.map(Unmanaged.passUnretained) else {
      return !fields.subtracting(ignored).isEmpty
    }
    return node._withUnsafeGuaranteedRef { node in
      let observed = fields.subtracting(node.ignored)
      if !observed.isDisjoint(with: node.interest) { node.report(observed) }
      return !observed.isEmpty
    }
  }

  /// Queues the observers of `fields`. O(n) in the number of changed fields with observers.
  public func report(_ fields: FieldSet) {
    var hit = fields.intersection(interest)
    if let only {
      if !hit.isEmpty { deliveries.add(only, hit) }
      return
    }
    while let index = hit.popFirst() {
      for position in observers[index].indices {
        deliveries.add(observers[index][position], fields)
      }
    }
  }

  /// Queues the observers of an optional's presence if the optional has become `nil` or has gained
  /// a value.
  public func reportPresence(_ isPresent: Bool) {
    guard isPresent != wasPresent else { return }
    wasPresent = isPresent
    for observer in others where observer.kind == .presence {
      deliveries.add(Unmanaged.passUnretained(observer), [])
    }
  }

  /// Queues the observers of this node and of its descendants, because the state was removed.
  @usableFromInline
  func vanish() {
    report(.all)
    reportPresence(false)
    for child in children { child?._withUnsafeGuaranteedRef { $0.vanish() } }
    for element in elements { element?.node._withUnsafeGuaranteedRef { $0.vanish() } }
  }

  func reportElements(_ changes: Any) {
    if areElementChangesDelivered { elementChanges = [] }
    areElementChangesDelivered = false
    elementChanges.append(changes)
    for observer in others where observer.kind == .elements {
      deliveries.add(Unmanaged.passUnretained(observer), [])
    }
  }

  /// The lists that have not been delivered yet, kept until the next change because all observers
  /// are called in one delivery.
  var deliveredElementChanges: [Any] {
    areElementChangesDelivered = true
    return elementChanges
  }

  // MARK: Observing

  /// Calls `callback` after a change of one of `fields`.
  public func observe(_ fields: FieldSet, _ callback: @escaping (FieldSet) -> Void) -> Observer {
    observe(fields, .fields(callback))
  }

  func observe(_ fields: FieldSet, _ callback: Observer.Callback) -> Observer {
    let observer = makeObserver(fields, .fields, callback)
    let entry = Unmanaged.passUnretained(observer)
    if interest.isEmpty {
      only = entry
    } else {
      if let only { list(only) }
      only = nil
      list(entry)
    }
    interest.formUnion(fields)
    return observer
  }

  private func list(_ entry: Unmanaged<Observer>) {
    let observer = entry.takeUnretainedValue()
    var rest = observer.fields
    while let index = rest.popFirst() {
      while observers.count <= index { observers.append([]) }
      observer.positions.append((index, observers[index].count))
      observers[index].append(entry)
    }
  }

  /// Calls `callback` when the optional becomes `nil` or gets a value.
  public func observePresence(
    isPresent: Bool, _ callback: @escaping () -> Void
  ) -> Observer {
    let observer = makeObserver([], .presence, .plain(callback))
    wasPresent = isPresent
    others.append(observer)
    return observer
  }

  func observeElements(_ callback: @escaping () -> Void) -> Observer {
    let observer = makeObserver([], .elements, .plain(callback))
    others.append(observer)
    wantsElementChanges = true
    return observer
  }

  private func makeObserver(
    _ fields: FieldSet, _ kind: Observer.Kind, _ callback: Observer.Callback
  ) -> Observer {
    deliveries.beforeObserving?()
    deliveries.observerCount += 1
    let observer = Observer(fields: fields, kind: kind, node: self, callback: callback)
    observer.retainForNode()
    return observer
  }

  func remove(_ observer: Observer) {
    deliveries.observerCount -= 1
    if observer.kind != .fields {
      others.removeAll { $0 === observer }
      wantsElementChanges = others.contains { $0.kind == .elements }
      if !wantsElementChanges { elementChanges = [] }
    }
    if let only, only.takeUnretainedValue() === observer {
      self.only = nil
      interest = []
    }
    for (field, position) in observer.positions {
      // The last entry moves to the free position.
      let entry = observers[field].removeLast()
      let last = entry.takeUnretainedValue()
      if last !== observer {
        observers[field][position] = entry
        if let index = last.positions.firstIndex(where: { $0.field == field }) {
          last.positions[index].position = position
        }
      }
      if observers[field].isEmpty { interest.remove(FieldSet(field: field)) }
    }
    observer.positions = []
    observer.releaseFromNode()
  }

  /// Returns the name of a kind of action, given its ``ChangeCause/action``.
  public func actionName(_ code: UInt64) -> String { deliveries.trace?.name(of: code) ?? "" }

  // MARK: Growing the tree

  /// Returns the node of a child, and makes it if it does not exist.
  public func makeChild(_ index: Int, ignored: FieldSet) -> ObservationNode {
    if let node = child(index) { return node }
    while children.count <= index { children.append(nil) }
    let node = ObservationNode(deliveries: deliveries, ignored: ignored)
    children[index] = .passRetained(node)
    return node
  }
}
