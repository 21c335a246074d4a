extension CasePathable {
  /// Whether this is the case: `state.destination?.is(\.settings)`.
  @inlinable
  public func `is`<Value>(_ key: CaseKey<Self, Value>) -> Bool {
    _$tag == Self._$cases[keyPath: key].tag
  }

  /// What the case carries; `nil` if this is another one. Changing it makes this the case again, with what it carries
  /// then: `state.destination?[case: \.settings]?.title = "Evening"`. Of an enum state just that change is noted.
  ///
  /// Setting `nil` changes nothing: there is no other case to become.
  @inlinable
  public subscript<Value>(case key: CaseKey<Self, Value>) -> Value? {
    get { Self._$cases[keyPath: key].extract(self) }
    set {
      if let newValue { self = Self._$cases[keyPath: key].embed(newValue) }
    }
  }

  /// What the case carries, of an enum with `@dynamicMemberLookup`: `state.destination?.settings`. The state of an enum
  /// of features has that.
  @inlinable
  public subscript<Value>(dynamicMember key: CaseKey<Self, Value>) -> Value? { self[case: key] }

  /// Changes what the case carries, in place; does nothing if this is another one.
  ///
  ///     state.destination?.modify(\.settings) { $0.title = "Evening" }
  ///
  /// - Returns: what `body` returned; `nil` if this is another case.
  @inlinable @discardableResult
  public mutating func modify<Case: MutableCaseLens, Result>(
    _ key: KeyPath<CaseLenses, Case>, _ body: (inout Case.Value) -> Result
  ) -> Result? where Case.Root == Self {
    Case.modify(&self, body)
  }
}
