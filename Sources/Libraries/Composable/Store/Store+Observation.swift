extension Store {
  /// The observation node of the whole state.
  public var place: ObservationPoint<State> {
    ObservationPoint(node: { [root] _ in root }, ignored: State._$ignoredFields)
  }

  /// Calls `callback` after a change of the field or of something inside it. Changes elsewhere have
  /// no additional cost.
  public func observe<Value>(
    _ field: FieldKey<State, Value>, _ callback: @escaping () -> Void
  ) -> Observer {
    place.observe(field, callback)
  }

  /// Calls `callback` with the changed fields after a change of any field of the state.
  public func observeAll(_ callback: @escaping (FieldSet) -> Void) -> Observer {
    place.observeAll(callback)
  }

  /// Calls `callback` when an optional child is added or removed, and passes whether it is now
  /// present. Changes inside the child do not call `callback`.
  public func observePresence<Child: ObservableState>(
    _ field: FieldKey<State, Child?>, _ callback: @escaping (_ isPresent: Bool) -> Void
  ) -> Observer {
    let field = State._$fields[keyPath: field]
    let node = root.makeChild(field.index, ignored: Child._$ignoredFields)
    return node.observePresence(isPresent: field.isPresent(_state)) { [unowned self] in
      callback(field.isPresent(_state))
    }
  }

  /// Overrides which fields of the root state are ignored, to compare both behaviours.
  public func setIgnored(_ fields: FieldSet) { root.ignored = fields }

  /// Returns an asynchronous sequence of a field's values: the current value, then the newest value
  /// after each delivery that changed it. A slow consumer misses intermediate values, but never the
  /// last one. The sequence ends when the store is deallocated.
  public func values<Value: Sendable>(of field: FieldKey<State, Value>) -> AsyncStream<Value> {
    let read = State._$fields[keyPath: field].get
    return stream(first: read(_state)) { [unowned self] continuation in
      observe(field) { [unowned self] in continuation.yield(read(_state)) }
    }
  }

  /// Returns an asynchronous sequence of the fields that changed, one set per delivery. If the
  /// consumer missed deliveries, the next set includes their fields.
  public func changes() -> AsyncStream<FieldSet> {
    // The fields that have not been consumed yet. Accessed only on the lane.
    var pending: FieldSet = []
    return stream(first: nil) { [unowned self] continuation in
      observeAll { fields in
        pending.formUnion(fields)
        if case .enqueued = continuation.yield(pending) { pending = [] }
      }
    }
  }

  private func stream<Element: Sendable>(
    first: Element?, observe: (AsyncStream<Element>.Continuation) -> Observer
  ) -> AsyncStream<Element> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: Element.self, bufferingPolicy: .bufferingNewest(1))
    if let first { continuation.yield(first) }
    // Accessed only on the lane: `onTermination` below switches to the lane first.
    nonisolated(unsafe) let (observer, endCallbacks) = (observe(continuation), endCallbacks)
    let number = endCallbacks.add { continuation.finish() }
    let lane = mailbox.lane
    continuation.onTermination = { _ in
      lane.execute {
        observer.cancel()
        endCallbacks.remove(number)
      }
    }
    return stream
  }
}
