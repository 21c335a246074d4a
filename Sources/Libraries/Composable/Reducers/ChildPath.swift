/// The path to the state of a child that may be absent.
public protocol ChildPath {
  /// The type of the parent's state.
  associatedtype Root
  /// The type of the child's state.
  associatedtype Child

  /// Returns whether the child is present, without a copy.
  static func isPresent(_ root: Root) -> Bool

  /// Calls `body` with the child, or with `nil` if it is absent.
  static func read<Result>(_ root: Root, _ body: (Child?) -> Result) -> Result

  /// Mutates the child in place and records changes. Returns `nil` if the child is absent. Must be
  /// called only if the child is present: otherwise the access might be recorded as a change.
  static func modify<Result>(_ root: inout Root, _ body: (inout Child) -> Result) -> Result?
}

/// An optional field.
public enum OptionalField<Lens: FieldLens, Child>: ChildPath where Lens.Value == Child? {
  @inlinable
  public static func isPresent(_ root: Lens.Root) -> Bool { Lens.isPresent(root) }

  @inlinable
  public static func read<Result>(_ root: Lens.Root, _ body: (Child?) -> Result) -> Result {
    Lens.read(root, body)
  }

  @inlinable @inline(__always)
  public static func modify<Result>(
    _ root: inout Lens.Root, _ body: (inout Child) -> Result
  ) -> Result? {
    Lens.modify(&root) { body(&$0!) }
  }
}

/// A case of an enum field.
public enum CaseOfField<Lens: FieldLens, Case: MutableCaseLens>: ChildPath
where Lens.Value == Case.Root, Case.Root: CasePathable {
  @inlinable
  public static func isPresent(_ root: Lens.Root) -> Bool {
    Lens.read(root) { $0._$tag == Case.tag }
  }

  @inlinable
  public static func read<Result>(_ root: Lens.Root, _ body: (Case.Value?) -> Result) -> Result {
    Lens.read(root) { body(Case.extract($0)) }
  }

  @inlinable @inline(__always)
  public static func modify<Result>(
    _ root: inout Lens.Root, _ body: (inout Case.Value) -> Result
  ) -> Result? {
    Lens.modify(&root) { Case.modify(&$0, body) }
  }
}

/// A case of a state that is itself an enum.
public enum CaseOfState<Case: MutableCaseLens>: ChildPath where Case.Root: CasePathable {
  @inlinable
  public static func isPresent(_ root: Case.Root) -> Bool { root._$tag == Case.tag }

  @inlinable
  public static func read<Result>(_ root: Case.Root, _ body: (Case.Value?) -> Result) -> Result {
    body(Case.extract(root))
  }

  @inlinable @inline(__always)
  public static func modify<Result>(
    _ root: inout Case.Root, _ body: (inout Case.Value) -> Result
  ) -> Result? {
    Case.modify(&root, body)
  }
}
