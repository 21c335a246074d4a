/// The queue of one store's observers that are due to be called: a list linked through the
/// observers, so that delivery allocates nothing.
public final class ObserverQueue {
  @exclusivity(unchecked) private var first: Unmanaged<Observer>?
  @exclusivity(unchecked) private var last: Unmanaged<Observer>?
  /// The number of observers; while it is 0, changes need not be examined.
  @exclusivity(unchecked) @usableFromInline var observerCount = 0
  /// The number of observers waiting to be called.
  @exclusivity(unchecked) @usableFromInline var queued = 0
  /// The kind of action that caused the changes, as its ``ActionTrace/code``; 0 if unknown.
  @exclusivity(unchecked) var cause: UInt64 = 0
  /// The source of the current kind of action and of the names of kinds.
  @exclusivity(unchecked) var trace: ActionTrace?
  /// Called before an observer is added, so that earlier changes are not reported to the new
  /// observer.
  @exclusivity(unchecked) @usableFromInline var beforeObserving: (() -> Void)?

  /// The nodes of removed states, kept until their observers have been called one last time.
  @exclusivity(unchecked) private var retired: [ObservationNode] = []

  /// Makes an empty queue.
  public init() {}

  @inlinable var isEmpty: Bool { queued == 0 }

  /// Calls the observers of a removed node one last time.
  func retire(_ node: ObservationNode) {
    node.vanish()
    // With an empty queue, no delivery would follow to release the node.
    if queued != 0 { retired.append(node) }
  }

  @inline(__always)
  func add(_ observer: Unmanaged<Observer>, _ changed: FieldSet) {
    observer._withUnsafeGuaranteedRef { entry in
      let hit = changed.intersection(entry.fields)
      if cause != 0 { entry.record(ChangeCause(action: cause, fields: hit)) }
      entry.pending.formUnion(hit)
      guard !entry.isQueued else { return }
      entry.isQueued = true
      queued &+= 1
      if let last {
        last._withUnsafeGuaranteedRef { $0.next = observer }
      } else {
        first = observer
      }
      last = observer
    }
  }

  /// Calls each observer once, in the order in which their changes were found. Changes by actions
  /// that observers send are delivered by the next call.
  @usableFromInline
  func deliver() {
    var head = first
    first = nil
    last = nil
    queued = 0
    var gone: [ObservationNode] = []
    if !retired.isEmpty { swap(&gone, &retired) }
    while let entry = head {
      entry._withUnsafeGuaranteedRef { observer in
        head = observer.next
        observer.call()
      }
    }
    withExtendedLifetime(gone) {}
  }

  deinit {
    while let entry = first {
      let observer = entry.takeUnretainedValue()
      first = observer.next
      observer.releaseFromQueue()
    }
  }
}
