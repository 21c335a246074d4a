/// A place in the tree of states at which somebody observes, or below which somebody does.
///
/// A place is a store and a path of fields and elements. The tree has nodes only where observers
/// are, so that a change costs what its own observers cost, however many others there are.
/// Not `Sendable`: belongs to the lane of its store, which is why exclusivity needs no checks at run time.
public final class PlaceNode {
  let deliveries: DeliveryQueue
  /// Fields of the state at this place that are not reported to its observers.
  @exclusivity(unchecked) public var ignored: FieldSet
  @exclusivity(unchecked) private var interest: FieldSet = []
  @exclusivity(unchecked) private var observers: ContiguousArray<ContiguousArray<Observer>> = []
  @exclusivity(unchecked) private var presenceObservers: ContiguousArray<Observer> = []
  @exclusivity(unchecked) private var wasPresent = false
  @exclusivity(unchecked) private var children: ContiguousArray<PlaceNode?> = []
  @exclusivity(unchecked) private var elements: ContiguousArray<PlaceNode?> = []

  /// Bit of a change that is none of a field: an element came, went or moved, or an optional did.
  static let presenceIndex = FieldSet.capacity - 1

  init(deliveries: DeliveryQueue, ignored: FieldSet = []) {
    self.deliveries = deliveries
    self.ignored = ignored
  }

  // MARK: Reporting, by the drain of a state

  /// The node of a child, if anybody observes there. O(1).
  @inlinable
  public func child(_ index: Int) -> PlaceNode? { _child(index) }

  @usableFromInline
  func _child(_ index: Int) -> PlaceNode? { index < children.count ? children[index] : nil }

  /// The node of the element in `slot`, if anybody observes there. O(1).
  public func element(_ slot: Int) -> PlaceNode? {
    slot < elements.count ? elements[slot] : nil
  }

  /// Queues the observers of `fields`. O(changed fields with observers).
  public func report(_ fields: FieldSet) {
    var hit = fields.intersection(interest)
    while let index = hit.popFirst() {
      for observer in observers[index] {
        deliveries.add(observer, fields.intersection(observer.fields))
      }
    }
  }

  /// Queues the observers of presence if it is not what it was.
  public func reportPresence(_ isPresent: Bool) {
    guard isPresent != wasPresent else { return }
    wasPresent = isPresent
    for observer in presenceObservers {
      deliveries.add(observer, FieldSet(field: Self.presenceIndex))
    }
  }

  // MARK: Observing

  /// Calls `callback` after a change of one of `fields` at this place.
  public func observe(_ fields: FieldSet, _ callback: @escaping (FieldSet) -> Void) -> Observer {
    let observer = Observer(fields: fields, wantsPresence: false, node: self, callback: callback)
    var rest = fields
    while let index = rest.popFirst() {
      while observers.count <= index { observers.append([]) }
      observer.positions.append((index, observers[index].count))
      observers[index].append(observer)
    }
    interest.formUnion(fields)
    return observer
  }

  /// Calls `callback` when the optional at this place becomes `nil` or stops being so.
  public func observePresence(
    isPresent: Bool, _ callback: @escaping () -> Void
  ) -> Observer {
    wasPresent = isPresent
    let observer = Observer(fields: [], wantsPresence: true, node: self) { _ in callback() }
    presenceObservers.append(observer)
    return observer
  }

  func remove(_ observer: Observer) {
    if observer.wantsPresence { presenceObservers.removeAll { $0 === observer } }
    for (field, position) in observer.positions {
      // The last one takes the free position.
      let last = observers[field].removeLast()
      if last !== observer {
        observers[field][position] = last
        if let index = last.positions.firstIndex(where: { $0.field == field }) {
          last.positions[index].position = position
        }
      }
      if observers[field].isEmpty { interest.remove(FieldSet(field: field)) }
    }
    observer.positions = []
  }

  // MARK: Growing the tree

  /// The node of a child; made if there is none.
  public func makeChild(_ index: Int, ignored: FieldSet) -> PlaceNode {
    if let node = _child(index) { return node }
    while children.count <= index { children.append(nil) }
    let node = PlaceNode(deliveries: deliveries, ignored: ignored)
    children[index] = node
    return node
  }

  /// The node of the element in `slot`; made if there is none.
  public func makeElement(_ slot: Int, ignored: FieldSet) -> PlaceNode {
    if let node = element(slot) { return node }
    while elements.count <= slot { elements.append(nil) }
    let node = PlaceNode(deliveries: deliveries, ignored: ignored)
    elements[slot] = node
    return node
  }

  /// Forgets the element in `slot`: whoever moves in next is somebody else. Its observers are told
  /// a last time.
  public func removeElement(_ slot: Int) {
    guard let node = element(slot) else { return }
    node.report(.all)
    elements[slot] = nil
  }
}
