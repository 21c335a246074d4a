/// Where the state of a child is that comes and goes.
public protocol ChildPath {
  /// The state of the parent.
  associatedtype Root
  /// The state of the child.
  associatedtype Child

  /// Whether the child is there. Looks, and copies nothing.
  static func isPresent(_ root: Root) -> Bool

  /// Looks at the child; `nil` if it is not there.
  static func read<Result>(_ root: Root, _ body: (Child?) -> Result) -> Result

  /// Mutates the child in place and notes what changed; `nil` if it is not there. Asked only if it is: an
  /// access in vain might be noted as a change.
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

/// A case of a state that is an enum as a whole.
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
