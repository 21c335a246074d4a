/// A path to one case of an enum: makes the enum value from a payload and extracts the payload.
/// `@CasePathable` generates the paths; `\.chat.delegate` names a case within a case.
@dynamicMemberLookup
public struct CasePath<Root, Value> {
  /// The position of the case in its enum.
  public let tag: Int
  /// The name of the case, or a dotted name such as `chat.delegate` for a case within a case.
  public let name: String
  /// Makes the enum value from a payload.
  public let embed: (Value) -> Root
  /// Returns the payload, or `nil` if the value is another case.
  public let extract: (Root) -> Value?

  /// Makes a path. Only generated code calls this initializer.
  @inlinable
  public init(
    tag: Int, name: String, embed: @escaping (Value) -> Root, extract: @escaping (Root) -> Value?
  ) {
    self.tag = tag
    self.name = name
    self.embed = embed
    self.extract = extract
  }
}

extension CasePath where Value: CasePathable {
  /// Returns the path to a case of the payload, as in `\.chat.delegate`.
  @inlinable
  public subscript<Leaf>(
    dynamicMember key: KeyPath<Value.Cases, CasePath<Value, Leaf>>
  ) -> CasePath<Root, Leaf> {
    let leaf = Value._$cases[keyPath: key]
    return CasePath<Root, Leaf>(
      tag: tag, name: "\(name).\(leaf.name)", embed: { embed(leaf.embed($0)) },
      extract: { extract($0).flatMap(leaf.extract) })
  }
}

/// An enum whose cases have paths; `@CasePathable` generates the conformance. A generated `switch`
/// computes the tag of an action, so that a composition runs only the child that the tag selects.
public protocol CasePathable {
  /// The paths of the cases: one property per case, with the name of the case.
  associatedtype Cases
  static var _$cases: Cases { get }
  /// The names of the cases, by tag.
  static var _$caseNames: [String] { get }
  var _$tag: Int { get }
  /// For an enum state, the `id` of the payload, or `nil` if the payload has no `id`.
  var _$payloadID: AnyHashable? { get }
  /// One property per case, by which compositions refer to the case as a type (``CaseLens``).
  associatedtype CaseLenses
}

extension CasePathable {
  @inlinable public var _$payloadID: AnyHashable? { nil }
}

/// A key path that names a case, as in `\.chat`; resolved once, when a reducer is built.
public typealias CaseKey<Action: CasePathable, Value> = KeyPath<
  Action.Cases, CasePath<Action, Value>
>
