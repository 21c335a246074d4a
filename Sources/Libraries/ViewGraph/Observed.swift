public import Composable

/// The state in a view's body, which records the fields that the body reads.
///
///     func body(_ state: Observed<HeaderFeature.State>, _ context: ViewContext) -> ViewNode {
///       .text(state.title)          // a read of `title`
///     }
///
/// Valid only during one evaluation.
@dynamicMemberLookup
public struct Observed<State: ObservableState> {
  @usableFromInline let state: State
  @usableFromInline let reads: ReadRecorder

  @inlinable
  init(_ state: State, _ reads: ReadRecorder) {
    self.state = state
    self.reads = reads
  }

  /// The value of a field. Getting the value records a read, unless the field is ignored.
  @inlinable
  public subscript<Value>(dynamicMember key: FieldKey<State, Value>) -> Value {
    let field = State._$fields[keyPath: key]
    reads.record(field.index)
    return field.get(state)
  }
}

extension Observed {
  /// Computed properties are unavailable, because their reads of fields would not be recorded.
  @available(
    *, unavailable,
    message: "a view reads stored fields: compute the value in the body, or store it in the state"
  )
  public subscript<Value>(dynamicMember key: KeyPath<State, Value>) -> Value { state[keyPath: key] }
}

extension Observed where State: CasePathable {
  /// The payload of a case of an enum state, or `nil` if the state is another case. Getting the
  /// payload records a read of the case.
  ///
  ///     .text(state.live.map { "\($0.seconds) s" } ?? "not on the air")
  @inlinable
  public subscript<Value>(dynamicMember key: CaseKey<State, Value>) -> Value? {
    let path = State._$cases[keyPath: key]
    reads.record(path.tag)
    return path.extract(state)
  }

  /// Returns whether the state is this case, and records a read of the current case only.
  @inlinable
  public func `is`<Value>(_ key: CaseKey<State, Value>) -> Bool {
    reads.record(FieldSet.capacity - 1)
    return state.is(key)
  }
}

/// Records the fields that one evaluation reads.
@usableFromInline
final class ReadRecorder {
  @usableFromInline var fields: FieldSet = []

  @usableFromInline init() {}

  @inlinable func record(_ index: Int) { fields.insert(FieldSet(field: index)) }
}
