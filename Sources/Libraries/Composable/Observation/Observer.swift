/// A callback for changes of certain fields of one observation node.
///
/// The ``ObservationNode`` holds the observer until ``cancel()`` is called or the store is
/// deallocated. Not `Sendable`: use it on the store's lane.
public final class Observer {
  /// The subject of the observation.
  enum Kind {
    case fields
    /// An optional becomes `nil` or gets a value.
    case presence
    /// Elements of a collection are inserted, removed, moved or changed.
    case elements
  }

  enum Callback {
    case fields((FieldSet) -> Void)
    // A separate case, because wrapping such a callback in a closure with a parameter would make
    // each call load one more object.
    case plain(() -> Void)
  }

  // The properties that a delivery reads come first, so that they share one or two cache lines.
  /// The observed fields.
  public let fields: FieldSet
  /// The fields that changed since the last call.
  @exclusivity(unchecked) var pending: FieldSet = []
  // Only one of the two callbacks is used. An enum or optionals would cost a reference count when
  // the closure is read.
  private let plainCallback: () -> Void
  private let fieldsCallback: (FieldSet) -> Void
  private let isPlain: Bool
  /// The next observer in the delivery queue.
  @exclusivity(unchecked) var next: Unmanaged<Observer>?
  @exclusivity(unchecked) var isQueued = false
  /// Whether the observer will never be called again.
  @exclusivity(unchecked) public private(set) var isCancelled = false
  @exclusivity(unchecked) private var isCalled = false
  /// Whether the node released the observer while it was queued or being called.
  @exclusivity(unchecked) private var isOwnedByQueue = false
  /// Whether any causes are stored, either pending or being delivered.
  @exclusivity(unchecked) private var hasCauses = false
  let kind: Kind
  @exclusivity(unchecked) private var pendingCauses: [ChangeCause] = []
  /// The actions that changed each field since the last call; valid during the call. For each
  /// field, only the first action is listed. Empty unless the store attributes changes.
  @exclusivity(unchecked) public private(set) var causes: [ChangeCause] = []
  // Unowned rather than weak: a weak reference would slow down all reference counting of the node.
  // The node clears this reference when the node is deallocated.
  @exclusivity(unchecked) private unowned(unsafe) var node: ObservationNode?
  /// The observer's positions in the node's lists, for removal in O(1) per field.
  var positions: [(field: Int, position: Int)] = []

  init(
    fields: FieldSet, kind: Kind, node: ObservationNode, callback: Callback
  ) {
    self.fields = fields
    self.kind = kind
    self.node = node
    switch callback {
    case .plain(let callback): (plainCallback, fieldsCallback, isPlain) = (callback, { _ in }, true)
    case .fields(let callback): (plainCallback, fieldsCallback, isPlain) = ({}, callback, false)
    }
  }

  func record(_ cause: ChangeCause) {
    let fields = cause.fields.subtracting(pending)
    // Observers of presence and elements have no fields, so only the first cause is kept.
    guard !fields.isEmpty || !isQueued else { return }
    pendingCauses.append(ChangeCause(action: cause.action, fields: fields))
    hasCauses = true
  }

  @inline(__always)
  func publishCauses() {
    guard hasCauses else { return }
    swap(&causes, &pendingCauses)
    pendingCauses.removeAll(keepingCapacity: true)
    hasCauses = !causes.isEmpty
  }

  /// Ends the observation. The callback is not called again, even for recorded changes.
  public func cancel() {
    guard !isCancelled else { return }
    isCancelled = true
    node?.remove(self)
    node = nil
  }

  /// Ends the observation because its node was deallocated.
  func orphan() {
    isCancelled = true
    node = nil
  }

  // The node owns its observers manually and the queue borrows them, because reference counting
  // would cost more than the rest of a delivery.

  /// Transfers ownership to the node.
  func retainForNode() { _ = Unmanaged.passRetained(self) }

  /// Releases the node's ownership, or transfers it to a queue that still uses the observer.
  func releaseFromNode() {
    if isQueued || isCalled {
      isOwnedByQueue = true
    } else {
      Unmanaged.passUnretained(self).release()
    }
  }

  /// Removes the observer from the queue and calls it unless it was cancelled in the meantime. The
  /// callback may cancel the observer.
  @inline(__always)
  func call() {
    next = nil
    isQueued = false
    let fields = pending
    pending = []
    publishCauses()
    if !isCancelled {
      isCalled = true
      if isPlain { plainCallback() } else { fieldsCallback(fields) }
      isCalled = false
    }
    if isOwnedByQueue, !isQueued { Unmanaged.passUnretained(self).release() }
  }

  /// Releases the observer because the queue is deallocated.
  func releaseFromQueue() {
    isQueued = false
    if isOwnedByQueue { Unmanaged.passUnretained(self).release() }
  }
}

/// A kind of action and the fields that it changed.
public struct ChangeCause: Hashable, Sendable {
  /// The ``ActionTrace/code`` of the kind.
  public let action: UInt64
  /// The fields that this action was the first to change.
  public let fields: FieldSet
}
