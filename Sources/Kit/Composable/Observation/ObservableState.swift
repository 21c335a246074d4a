/// A value that reports changes inside itself: a state, an optional one, a collection of them.
///
/// The members are called by generated accessors and by the store, never by hand.
public protocol ObservableBranch {
  /// Begins an access in place. The token goes to ``_$leave(token:)``.
  mutating func _$enter(stamp: UInt64) -> UInt64

  /// Ends an access in place. Returns whether it is still the same value, perhaps mutated; `false`
  /// if it was replaced.
  mutating func _$leave(token: UInt64) -> Bool

  /// Hands the changes since the last drain to the observers below `node` and forgets them.
  ///
  /// `replaced` says that the whole value is another one. Returns whether anything changed that is
  /// not ignored. Visits only what was touched.
  mutating func _$drain(into node: PlaceNode?, replaced: Bool) -> Bool

  /// Adds the paths of what changed since the last drain, for debugging.
  func _$collectChanges(at path: String, into paths: inout [String])

  /// Adds the paths of what differs from `old` and is not noted, for tests of the notes themselves.
  func _$collectUnnoted(since old: Self, at path: String, into paths: inout [String])

  /// Adds the sizes of the collections inside.
  func _$collectSizes(into sizes: inout StateSizes)
}

extension ObservableBranch {
  public func _$collectChanges(at path: String, into paths: inout [String]) {
    paths.append(path.isEmpty ? "(inside)" : path)
  }

  public func _$collectUnnoted(since old: Self, at path: String, into paths: inout [String]) {}

  public func _$collectSizes(into sizes: inout StateSizes) {}
}

/// A state whose fields can be observed. Made by the macro `@ObservableState`.
public protocol ObservableState: ObservableBranch {
  /// Descriptors of the fields, one property per field, under its name.
  associatedtype Fields
  static var _$fields: Fields { get }

  /// Names of the fields by index.
  static var _$fieldNames: [String] { get }

  /// Fields marked `@ObservationStateIgnored`: their changes are reported to their own observers,
  /// not to those of this state.
  static var _$ignoredFields: FieldSet { get }

  /// The fields as types, one property per field, under its name: what compositions name.
  associatedtype Lenses
}

/// Helpers of generated code whose overloads are picked by the static type of a field.
public enum Observation {
  /// A field without a state of its own has nothing to drain.
  @inlinable
  public static func drain<Value>(
    _ value: inout Value, _ index: Int, _ node: PlaceNode?, replaced: Bool
  ) -> Bool { false }

  @inlinable
  public static func drain<Value: ObservableBranch>(
    _ value: inout Value, _ index: Int, _ node: PlaceNode?, replaced: Bool
  ) -> Bool {
    // Without counting references: the node above holds this one, and no callback runs before the end.
    guard let child = node?.unretainedChild(index) else {
      return value._$drain(into: nil, replaced: replaced)
    }
    return child._withUnsafeGuaranteedRef { value._$drain(into: $0, replaced: replaced) }
  }

  /// Begins an access in place to the payload of an enum's case.
  @inlinable
  public static func enter<Value>(_ value: inout Value, stamp: UInt64) -> UInt64 { stamp }
  @inlinable
  public static func enter<Value: ObservableBranch>(_ value: inout Value, stamp: UInt64) -> UInt64 {
    value._$enter(stamp: stamp)
  }

  /// Ends it. A payload that reports nothing counts as replaced.
  @inlinable
  public static func leave<Value>(_ value: inout Value, token: UInt64) -> Bool { false }
  @inlinable
  public static func leave<Value: ObservableBranch>(_ value: inout Value, token: UInt64) -> Bool {
    value._$leave(token: token)
  }

  /// Whether a field of this type has a state of its own.
  @inlinable
  public static func isBranch<Value>(_: Value.Type) -> Bool { false }
  @inlinable
  public static func isBranch<Value: ObservableBranch>(_: Value.Type) -> Bool { true }

  /// Whether a field holds something; `false` only for an optional that is `nil`.
  @inlinable
  public static func isPresent<Value>(_ value: Value) -> Bool { true }
  @inlinable
  public static func isPresent<Value>(_ value: Value?) -> Bool {
    switch value {
    case .none: false
    case .some: true
    }
  }

  /// Adds what changed in one field.
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

  /// Adds a field that differs from its old value and is not noted.
  public static func collectUnnoted<Value, Word>(
    _ value: Value, since old: Value, _ index: Int, _ name: String,
    _ changes: FieldChangesOf<Word>, at path: String, into paths: inout [String]
  ) {}

  public static func collectUnnoted<Value: Equatable, Word>(
    _ value: Value, since old: Value, _ index: Int, _ name: String,
    _ changes: FieldChangesOf<Word>, at path: String, into paths: inout [String]
  ) {
    if !changes.isWritten(index), value != old { paths.append(path + name) }
  }

  public static func collectUnnoted<Value: ObservableBranch, Word>(
    _ value: Value, since old: Value, _ index: Int, _ name: String,
    _ changes: FieldChangesOf<Word>, at path: String, into paths: inout [String]
  ) {
    if changes.isWritten(index) { return }
    value._$collectUnnoted(since: old, at: "\(path)\(name).", into: &paths)
  }

  public static func collectUnnoted<Value: ObservableBranch & Equatable, Word>(
    _ value: Value, since old: Value, _ index: Int, _ name: String,
    _ changes: FieldChangesOf<Word>, at path: String, into paths: inout [String]
  ) {
    if changes.isWritten(index) { return }
    if changes.isEntered(index) {
      value._$collectUnnoted(since: old, at: "\(path)\(name).", into: &paths)
    } else if value != old {
      paths.append(path + name)
    }
  }
}

// The payloads of an enum state: entered as a whole, since only one of them is there.
extension Observation {
  /// Tells the observers of an enum state that its payload changed, or all of it if it was replaced.
  /// Returns whether either is so.
  @inlinable
  public static func report(
    _ isChanged: Bool, _ tag: Int, _ node: PlaceNode?, replaced: Bool
  ) -> Bool {
    if isChanged || replaced { node?.report(replaced ? .all : FieldSet(field: tag)) }
    return isChanged || replaced
  }

  /// The `id` of a payload; `nil` if it has none.
  @inlinable
  public static func id<Value>(of payload: Value) -> AnyHashable? { nil }

  /// The `id` of a payload that has one.
  @inlinable
  public static func id<Value: Identifiable>(of payload: Value) -> AnyHashable? {
    AnyHashable(payload.id)
  }

  /// Adds what changed in a payload without a state of its own: all of it.
  public static func collect<Value>(
    _ payload: Value, _ name: String, at path: String, into paths: inout [String]
  ) {
    paths.append(path + name)
  }

  /// Adds what changed inside a payload.
  public static func collect<Value: ObservableBranch>(
    _ payload: Value, _ name: String, at path: String, into paths: inout [String]
  ) {
    payload._$collectChanges(at: "\(path)\(name).", into: &paths)
  }

  /// Adds nothing: values that cannot be compared are not looked at.
  public static func collectUnnoted<Value>(
    _ payload: Value, since old: Value, _ name: String, at path: String, into paths: inout [String]
  ) {}

  /// Adds a payload that differs from its old value.
  public static func collectUnnoted<Value: Equatable>(
    _ payload: Value, since old: Value, _ name: String, at path: String, into paths: inout [String]
  ) {
    if payload != old { paths.append(path + name) }
  }

  /// Adds what differs inside a payload and is not noted.
  public static func collectUnnoted<Value: ObservableBranch>(
    _ payload: Value, since old: Value, _ name: String, at path: String, into paths: inout [String]
  ) {
    payload._$collectUnnoted(since: old, at: "\(path)\(name).", into: &paths)
  }

  /// Adds what differs inside a payload and is not noted.
  public static func collectUnnoted<Value: ObservableBranch & Equatable>(
    _ payload: Value, since old: Value, _ name: String, at path: String, into paths: inout [String]
  ) {
    payload._$collectUnnoted(since: old, at: "\(path)\(name).", into: &paths)
  }
}
