/// A callback for changes of certain fields of one node of the state tree.
///
/// Held by the ``PlaceNode`` it was added to until ``cancel()`` or until the store goes. Not
/// `Sendable`: used on the store's lane.
public final class Observer {
  /// What it observes besides fields.
  enum Kind {
    case fields
    /// An optional becomes `nil`, or stops being so.
    case presence
    /// Elements of a collection come, go, move or change.
    case elements
  }

  enum Callback {
    case fields((FieldSet) -> Void)
    // Not wrapped in one of the other kind: that would be one more object to visit.
    case plain(() -> Void)
  }

  // What a delivery touches comes first, to be in one or two lines of the cache.
  /// The fields that it observes.
  public let fields: FieldSet
  /// What changed since it was called last.
  @exclusivity(unchecked) var pending: FieldSet = []
  // One of them is used. Not the enumeration, and not optionals: taking a function out of these counts a
  // reference.
  private let plainCallback: () -> Void
  private let fieldsCallback: (FieldSet) -> Void
  private let isPlain: Bool
  /// The next one in the queue of those to be called.
  @exclusivity(unchecked) var next: Unmanaged<Observer>?
  @exclusivity(unchecked) var isQueued = false
  /// Whether it will never be called again.
  @exclusivity(unchecked) public private(set) var isCancelled = false
  /// Whether it is being called.
  @exclusivity(unchecked) private var isCalled = false
  /// Whether its node released it while it was in the queue or was called.
  @exclusivity(unchecked) private var isOwnedByQueue = false
  /// Whether there are causes, pending or not.
  @exclusivity(unchecked) private var hasCauses = false
  let kind: Kind
  @exclusivity(unchecked) private var pendingCauses: [ChangeCause] = []
  /// Which actions changed which of its fields since it was called last; valid during the call. The
  /// first action to change a field represents those after it. Empty unless the store attributes
  /// changes.
  @exclusivity(unchecked) public private(set) var causes: [ChangeCause] = []
  // Unowned, not weak: a weak reference would make each count of the node's references a slow one.
  // The node clears it when it goes.
  @exclusivity(unchecked) private unowned(unsafe) var node: PlaceNode?
  /// Its positions in the node's lists, for removal in O(1) per field.
  var positions: [(field: Int, position: Int)] = []

  init(
    fields: FieldSet, kind: Kind, node: PlaceNode, callback: Callback
  ) {
    self.fields = fields
    self.kind = kind
    self.node = node
    switch callback {
    case .plain(let callback): (plainCallback, fieldsCallback, isPlain) = (callback, { _ in }, true)
    case .fields(let callback): (plainCallback, fieldsCallback, isPlain) = ({}, callback, false)
    }
  }

  /// Notes a cause for the next call.
  func note(_ cause: ChangeCause) {
    let fields = cause.fields.subtracting(pending)
    // Presence and elements have no fields: their first cause counts.
    guard !fields.isEmpty || !isQueued else { return }
    pendingCauses.append(ChangeCause(action: cause.action, fields: fields))
    hasCauses = true
  }

  @inline(__always)
  func takeCauses() {
    guard hasCauses else { return }
    swap(&causes, &pendingCauses)
    pendingCauses.removeAll(keepingCapacity: true)
    hasCauses = !causes.isEmpty
  }

  /// Ends the observation. It is not called again, not even for a change that is already noted.
  public func cancel() {
    guard !isCancelled else { return }
    isCancelled = true
    node?.remove(self)
    node = nil
  }

  /// Its node is gone.
  func orphan() {
    isCancelled = true
    node = nil
  }

  // The node owns its observers by hand, and the queue borrows them: counting references would cost
  // more than all else that a delivery does.

  /// The node takes ownership.
  func retainForNode() { _ = Unmanaged.passRetained(self) }

  /// The node gives up ownership: to the queue if that still uses it.
  func releaseFromNode() {
    if isQueued || isCalled {
      isOwnedByQueue = true
    } else {
      Unmanaged.passUnretained(self).release()
    }
  }

  /// The queue took it out and calls it, unless it was cancelled in the meantime. It may cancel itself in
  /// the call.
  @inline(__always)
  func call() {
    next = nil
    isQueued = false
    let fields = pending
    pending = []
    takeCauses()
    if !isCancelled {
      isCalled = true
      if isPlain { plainCallback() } else { fieldsCallback(fields) }
      isCalled = false
    }
    if isOwnedByQueue, !isQueued { Unmanaged.passUnretained(self).release() }
  }

  /// The queue goes.
  func releaseFromQueue() {
    isQueued = false
    if isOwnedByQueue { Unmanaged.passUnretained(self).release() }
  }
}

/// A kind of action, and the fields that it changed.
public struct ChangeCause: Hashable, Sendable {
  /// The ``ActionTrace/code`` of the kind.
  public let action: UInt64
  /// Those that the action was the first to change.
  public let fields: FieldSet
}
