/// A field of a state as a type: how to read it and how to mutate it in place, known when compiling.
///
/// Made by `@ObservableState`, one per field. A writable key path through a computed property would
/// read a copy, change it and write it back.
public protocol FieldLens {
  /// The state.
  associatedtype Root
  /// What the field holds.
  associatedtype Value

  /// Index of the field's bit.
  static var index: Int { get }

  /// Looks at the field.
  static func read<Result>(_ root: Root, _ body: (Value) -> Result) -> Result

  /// Mutates in place and notes what changed.
  static func modify<Result>(_ root: inout Root, _ body: (inout Value) -> Result) -> Result

  /// Mutates in place what is not part of the value.
  static func modifyUnnoted<Result>(_ root: inout Root, _ body: (inout Value) -> Result) -> Result

  /// Takes the note of a change, if there is one, for ``restoreNote(_:)``.
  static func takeNote(_ root: inout Root) -> Bool

  /// Puts back a note that was taken.
  static func restoreNote(_ root: inout Root)
}

/// A case of an action or of an enum state as a type. Made by `@CasePathable`, one per case.
public protocol CaseLens {
  /// The enum.
  associatedtype Root
  /// What the case carries; several values as a tuple.
  associatedtype Value

  /// Position of the case in its enum.
  static var tag: Int { get }

  /// Makes the root from what the case carries.
  static func embed(_ value: Value) -> Root

  /// `nil` if the root is another case.
  static func extract(_ root: Root) -> Value?
}

/// A case of an enum state. Made by `@ObservableState`.
public protocol MutableCaseLens: CaseLens {
  /// Mutates the payload in place, without a copy of it; `nil` if the root is another case.
  static func modify<Result>(_ root: inout Root, _ body: (inout Value) -> Result) -> Result?
}
