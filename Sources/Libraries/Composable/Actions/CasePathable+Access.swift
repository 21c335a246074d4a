extension CasePathable {
  /// Returns whether the value is the given case: `state.destination?.is(\.settings)`.
  @inlinable
  public func `is`<Value>(_ key: CaseKey<Self, Value>) -> Bool {
    _$tag == Self._$cases[keyPath: key].tag
  }

  /// The payload of the case, or `nil` if the value is another case. Changing the payload assigns
  /// this case again, with the changed payload: `state.destination?[case: \.settings]?.title =
  /// "Evening"`. If the enum is an observable state, only the fields that differ count as changed,
  /// not the whole payload.
  ///
  /// Setting `nil` has no effect, because there is no other case to switch to.
  @inlinable
  public subscript<Value>(case key: CaseKey<Self, Value>) -> Value? {
    get { Self._$cases[keyPath: key].extract(self) }
    set {
      if let newValue { self = Self._$cases[keyPath: key].embed(newValue) }
    }
  }

  /// The payload of the case: `state.destination?.settings`. The enum must have the attribute
  /// `@dynamicMemberLookup`, which `@Reducer` adds to the state of an enum of features.
  @inlinable
  public subscript<Value>(dynamicMember key: CaseKey<Self, Value>) -> Value? { self[case: key] }

  /// Changes the payload of the case in place, or does nothing if the value is another case.
  ///
  ///     state.destination?.modify(\.settings) { $0.title = "Evening" }
  ///
  /// - Returns: The result of `body`, or `nil` if the value is another case.
  @inlinable @discardableResult
  public mutating func modify<Case: MutableCaseLens, Result>(
    _ key: KeyPath<CaseLenses, Case>, _ body: (inout Case.Value) -> Result
  ) -> Result? where Case.Root == Self {
    Case.modify(&self, body)
  }
}
