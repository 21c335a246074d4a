/// Somebody who wants to know when certain fields at one place change.
///
/// Held by the ``PlaceNode`` it was added to until ``cancel()``, which must be called, if at all, while
/// the store lives; called on the store's lane.
public final class Observer {
  /// The fields it waits for.
  public let fields: FieldSet
  let wantsPresence: Bool
  let callback: (FieldSet) -> Void
  /// What changed since it was called last.
  @exclusivity(unchecked) var pending: FieldSet = []
  @exclusivity(unchecked) var isQueued = false
  @exclusivity(unchecked) private(set) var isCancelled = false
  /// The next one in the queue of those to be called.
  @exclusivity(unchecked) var next: Observer?
  // Unowned, not weak: a weak reference would make each count of the node's references a slow one.
  private unowned let node: PlaceNode
  /// Where it stands in the node's lists, for removal in O(1) per field.
  var positions: [(field: Int, position: Int)] = []

  init(
    fields: FieldSet, wantsPresence: Bool, node: PlaceNode, callback: @escaping (FieldSet) -> Void
  ) {
    self.fields = fields
    self.wantsPresence = wantsPresence
    self.node = node
    self.callback = callback
  }

  /// Ends the observation. It is not called again, not even for a change that is already noted.
  public func cancel() {
    guard !isCancelled else { return }
    isCancelled = true
    node.remove(self)
  }
}

/// The observers of one store that have to be called: a list through the observers themselves, so
/// that no round allocates.
public final class DeliveryQueue {
  @exclusivity(unchecked) private var first: Observer?
  @exclusivity(unchecked) private unowned(unsafe) var last: Observer?

  public init() {}

  @usableFromInline var isEmpty: Bool { first == nil }

  func add(_ observer: Observer, _ fields: FieldSet) {
    observer.pending.formUnion(fields)
    guard !observer.isQueued else { return }
    observer.isQueued = true
    if let last { last.next = observer } else { first = observer }
    last = observer
  }

  /// Calls everybody once, in the order in which their changes were found. Observers may send
  /// actions; what these change is delivered by the next call.
  @usableFromInline
  func deliver() {
    var head = first
    first = nil
    last = nil
    while let observer = head {
      head = observer.next
      observer.next = nil
      let fields = observer.pending
      observer.pending = []
      observer.isQueued = false
      if !observer.isCancelled { observer.callback(fields) }
    }
  }

  deinit {
    // Unlinked one by one: freeing a long list through its links would recurse.
    while let observer = first {
      first = observer.next
      observer.next = nil
    }
  }
}
