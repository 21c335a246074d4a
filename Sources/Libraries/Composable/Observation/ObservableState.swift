/// A value that reports changes inside itself: a state, an optional state, or a collection of
/// states. Only generated accessors and the store call the protocol's members.
public protocol ObservableBranch {
  /// Begins in-place access. Pass the returned token to ``_$leave(token:)``.
  mutating func _$enter(stamp: UInt64) -> UInt64

  /// Ends in-place access. Returns whether the value was only mutated and not replaced.
  mutating func _$leave(token: UInt64) -> Bool

  /// Reports to the observers below `node` what changed since the last report, and clears the
  /// changes. If `replaced` is true, the whole value was replaced. Returns whether anything changed
  /// that is not ignored. Visits only fields that were assigned or accessed.
  mutating func _$drain(into node: ObservationNode?, replaced: Bool) -> Bool

  /// Adds the paths of changes since the last report, for debugging.
  func _$collectChanges(at path: String, into paths: inout [String])

  /// Adds the paths of unrecorded differences from `old`, for tests of the change records.
  func _$collectUnrecorded(since old: Self, at path: String, into paths: inout [String])

  /// Adds the sizes of the collections inside the value.
  func _$collectSizes(into sizes: inout StateSizes)
}

extension ObservableBranch {
  public func _$collectChanges(at path: String, into paths: inout [String]) {
    paths.append(path.isEmpty ? "(inside)" : path)
  }

  public func _$collectUnrecorded(since old: Self, at path: String, into paths: inout [String]) {}

  public func _$collectSizes(into sizes: inout StateSizes) {}
}

/// A state whose fields can be observed. The macro `@ObservableState` generates the conformance.
public protocol ObservableState: ObservableBranch {
  /// The descriptors of the fields: one property per field, with the name of the field.
  associatedtype Fields
  static var _$fields: Fields { get }

  /// The names of the fields, by index.
  static var _$fieldNames: [String] { get }

  /// The fields marked `@ObservationStateIgnored`. Observers of an ignored field are called after
  /// its changes; observers of this state are not.
  static var _$ignoredFields: FieldSet { get }

  /// One property per field, by which compositions refer to the field as a type (``FieldLens``).
  associatedtype Lenses
}

/// Helpers of generated code. The static type of a field selects the overload.
public enum Observation {
  /// Returns false: a field that is not a state has no changes inside.
  @inlinable
  public static func drain<Value>(
    _ value: inout Value, _ index: Int, _ node: ObservationNode?, replaced: Bool
  ) -> Bool { false }

  @inlinable
  public static func drain<Value: ObservableBranch>(
    _ value: inout Value, _ index: Int, _ node: ObservationNode?, replaced: Bool
  ) -> Bool {
    // Unretained: the parent node holds its child, and no callback runs before the return.
    guard let child = node?.unretainedChild(index) else {
      return value._$drain(into: nil, replaced: replaced)
    }
    return child._withUnsafeGuaranteedRef { value._$drain(into: $0, replaced: replaced) }
  }

  /// Begins in-place access to the payload of an enum's case.
  @inlinable
  public static func enter<Value>(_ value: inout Value, stamp: UInt64) -> UInt64 { stamp }
  @inlinable
  public static func enter<Value: ObservableBranch>(_ value: inout Value, stamp: UInt64) -> UInt64 {
    value._$enter(stamp: stamp)
  }

  /// Ends in-place access. A payload that does not report changes counts as replaced.
  @inlinable
  public static func leave<Value>(_ value: inout Value, token: UInt64) -> Bool { false }
  @inlinable
  public static func leave<Value: ObservableBranch>(_ value: inout Value, token: UInt64) -> Bool {
    value._$leave(token: token)
  }

  /// Returns whether values of this type report changes inside themselves.
  @inlinable
  public static func isBranch<Value>(_: Value.Type) -> Bool { false }
  @inlinable
  public static func isBranch<Value: ObservableBranch>(_: Value.Type) -> Bool { true }

  /// Returns whether a field has a value; `false` only for an optional that is `nil`.
  @inlinable
  public static func isPresent<Value>(_ value: Value) -> Bool { true }
  @inlinable
  public static func isPresent<Value>(_ value: Value?) -> Bool {
    switch value {
    case .none: false
    case .some: true
    }
  }

  /// Adds the changes of one field.
  public static func collect<Value, Word>(
    _ value: Value, _ index: Int, _ name: String, _ changes: FieldChangesOf<Word>,
    at path: String, into paths: inout [String]
  ) {
    if changes.isWritten(index) { paths.append(path + name) }
  }

  public static func collect<Value: ObservableBranch, Word>(
    _ value: Value, _ index: Int, _ name: String, _ changes: FieldChangesOf<Word>,
    at path: String, into paths: inout [String]
  ) {
    if changes.isWritten(index) {
      paths.append(path + name)
    } else if changes.isEntered(index) {
      value._$collectChanges(at: "\(path)\(name).", into: &paths)
    }
  }

  /// Adds a field that differs from its old value without a recorded change.
  public static func collectUnrecorded<Value, Word>(
    _ value: Value, since old: Value, _ index: Int, _ name: String,
    _ changes: FieldChangesOf<Word>, at path: String, into paths: inout [String]
  ) {}

  public static func collectUnrecorded<Value: Equatable, Word>(
    _ value: Value, since old: Value, _ index: Int, _ name: String,
    _ changes: FieldChangesOf<Word>, at path: String, into paths: inout [String]
  ) {
    if !changes.isWritten(index), value != old { paths.append(path + name) }
  }

  public static func collectUnrecorded<Value: ObservableBranch, Word>(
    _ value: Value, since old: Value, _ index: Int, _ name: String,
    _ changes: FieldChangesOf<Word>, at path: String, into paths: inout [String]
  ) {
    if changes.isWritten(index) { return }
    value._$collectUnrecorded(since: old, at: "\(path)\(name).", into: &paths)
  }

  public static func collectUnrecorded<Value: ObservableBranch & Equatable, Word>(
    _ value: Value, since old: Value, _ index: Int, _ name: String,
    _ changes: FieldChangesOf<Word>, at path: String, into paths: inout [String]
  ) {
    if changes.isWritten(index) { return }
    if changes.isEntered(index) {
      value._$collectUnrecorded(since: old, at: "\(path)\(name).", into: &paths)
    } else if value != old {
      paths.append(path + name)
    }
  }
}

// The payloads of an enum state. Access is recorded for the whole enum.
extension Observation {
  /// Queues the observers of an enum state if its payload changed or the whole enum was replaced.
  /// Returns whether either happened.
  @inlinable
  public static func report(
    _ isChanged: Bool, _ tag: Int, _ node: ObservationNode?, replaced: Bool
  ) -> Bool {
    if isChanged || replaced { node?.report(replaced ? .all : FieldSet(field: tag)) }
    return isChanged || replaced
  }

  /// Returns nil, because the payload has no `id`.
  @inlinable
  public static func id<Value>(of payload: Value) -> AnyHashable? { nil }

  /// Returns the `id` of a payload.
  @inlinable
  public static func id<Value: Identifiable>(of payload: Value) -> AnyHashable? {
    AnyHashable(payload.id)
  }

  /// Adds the whole payload, because it does not report changes inside itself.
  public static func collect<Value>(
    _ payload: Value, _ name: String, at path: String, into paths: inout [String]
  ) {
    paths.append(path + name)
  }

  /// Adds the changes inside a payload.
  public static func collect<Value: ObservableBranch>(
    _ payload: Value, _ name: String, at path: String, into paths: inout [String]
  ) {
    payload._$collectChanges(at: "\(path)\(name).", into: &paths)
  }

  /// Adds nothing, because the values cannot be compared.
  public static func collectUnrecorded<Value>(
    _ payload: Value, since old: Value, _ name: String, at path: String, into paths: inout [String]
  ) {}

  /// Adds a payload that differs from its old value.
  public static func collectUnrecorded<Value: Equatable>(
    _ payload: Value, since old: Value, _ name: String, at path: String, into paths: inout [String]
  ) {
    if payload != old { paths.append(path + name) }
  }

  /// Adds unrecorded differences inside a payload.
  public static func collectUnrecorded<Value: ObservableBranch>(
    _ payload: Value, since old: Value, _ name: String, at path: String, into paths: inout [String]
  ) {
    payload._$collectUnrecorded(since: old, at: "\(path)\(name).", into: &paths)
  }

  /// Adds unrecorded differences inside a payload.
  public static func collectUnrecorded<Value: ObservableBranch & Equatable>(
    _ payload: Value, since old: Value, _ name: String, at path: String, into paths: inout [String]
  ) {
    payload._$collectUnrecorded(since: old, at: "\(path)\(name).", into: &paths)
  }
}
