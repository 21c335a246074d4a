extension Store {
  /// The node of the whole state.
  public var place: Place<State> {
    Place(node: { [root] _ in root }, ignored: State._$ignoredFields)
  }

  /// Calls `callback` after a change of the field, or of something inside it. Cost of a change
  /// elsewhere: none.
  public func observe<Value>(
    _ field: FieldKey<State, Value>, _ callback: @escaping () -> Void
  ) -> Observer {
    place.observe(field, callback)
  }

  /// Calls `callback` after a change of any of the state's fields, with the changed ones.
  public func observeAll(_ callback: @escaping (FieldSet) -> Void) -> Observer {
    place.observeAll(callback)
  }

  /// Calls `callback` when an optional child comes or goes, with whether it is there now.
  ///
  /// What happens inside the child does not concern it.
  public func observePresence<Child: ObservableState>(
    _ field: FieldKey<State, Child?>, _ callback: @escaping (_ isPresent: Bool) -> Void
  ) -> Observer {
    let field = State._$fields[keyPath: field]
    let node = root.makeChild(field.index, ignored: Child._$ignoredFields)
    return node.observePresence(isPresent: field.isPresent(_state)) { [unowned self] in
      callback(field.isPresent(_state))
    }
  }

  /// Overrides which fields of the root state are ignored, to compare both in one program.
  public func setIgnored(_ fields: FieldSet) { root.ignored = fields }

  /// The values of a field as an asynchronous sequence: the present one, and after each delivery the
  /// newest if it changed. A consumer that is slow misses values in between, never the last.
  ///
  /// Ends when the store goes.
  public func values<Value: Sendable>(of field: FieldKey<State, Value>) -> AsyncStream<Value> {
    let read = State._$fields[keyPath: field].get
    return stream(first: read(_state)) { [unowned self] continuation in
      observe(field) { [unowned self] in continuation.yield(read(_state)) }
    }
  }

  /// Which fields changed, after each delivery, as an asynchronous sequence: of deliveries that the
  /// consumer missed, too.
  public func changes() -> AsyncStream<FieldSet> {
    // What was not consumed yet; on the lane only.
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
    // Touched on the lane only: the hop below is what makes that so.
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
