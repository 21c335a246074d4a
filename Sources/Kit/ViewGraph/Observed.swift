public import Composable

/// A state as a view sees it: each field that is read is noted.
///
///     func body(_ state: Observed<HeaderFeature.State>, _ context: ViewContext) -> ViewNode {
///       .text(state.title)          // a read of `title`
///     }
///
/// Valid during one evaluation.
@dynamicMemberLookup
public struct Observed<State: ObservableState> {
  @usableFromInline let state: State
  @usableFromInline let reads: ReadRecorder

  @inlinable
  init(_ state: State, _ reads: ReadRecorder) {
    self.state = state
    self.reads = reads
  }

  /// Reads a field, and notes that. Reading an ignored field notes nothing.
  @inlinable
  public subscript<Value>(dynamicMember key: FieldKey<State, Value>) -> Value {
    let field = State._$fields[keyPath: key]
    reads.note(field.index)
    return field.get(state)
  }
}

extension Observed {
  /// Computed properties cannot be read: what they read would not be noted.
  @available(
    *, unavailable,
    message:
      "a view reads stored fields: compute the value from them in the body, or store it in the state"
  )
  public subscript<Value>(dynamicMember key: KeyPath<State, Value>) -> Value { state[keyPath: key] }
}

extension Observed where State: CasePathable {
  /// What a case of an enum state carries, `nil` while it is another case: a read of that case.
  ///
  ///     .text(state.live.map { "\($0.seconds) s" } ?? "not on the air")
  @inlinable
  public subscript<Value>(dynamicMember key: CaseKey<State, Value>) -> Value? {
    let path = State._$cases[keyPath: key]
    reads.note(path.tag)
    return path.extract(state)
  }

  /// Whether the state is this case: a read of which case it is, not of what that carries.
  @inlinable
  public func `is`<Value>(_ key: CaseKey<State, Value>) -> Bool {
    reads.note(FieldSet.capacity - 1)
    return state.is(key)
  }
}

/// Collects what one evaluation read.
@usableFromInline
final class ReadRecorder {
  @usableFromInline var fields: FieldSet = []

  @usableFromInline init() {}

  @inlinable func note(_ index: Int) { fields.insert(FieldSet(field: index)) }
}
