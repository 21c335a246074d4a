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

/// Collects what one evaluation read.
@usableFromInline
final class ReadRecorder {
  @usableFromInline var fields: FieldSet = []

  @usableFromInline init() {}

  @inlinable func note(_ index: Int) { fields.insert(FieldSet(field: index)) }
}
