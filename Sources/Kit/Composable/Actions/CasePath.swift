/// One case of an action (or of an enum state): how to make it and how to look into it.
///
/// Made by `@CasePathable`. Paths join: `\.chat.delegate` names a case within a case.
@dynamicMemberLookup
public struct CasePath<Root, Value> {
  /// Position of the case in its enum.
  public let tag: Int
  /// The name of the case; of a case within a case, both, as in `chat.delegate`.
  public let name: String
  /// Makes the root from what the case carries.
  public let embed: (Value) -> Root
  /// `nil` if the root is another case.
  public let extract: (Root) -> Value?

  /// Made by the macro; not written by hand.
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
  /// The path to a case of the payload.
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

/// An enum whose cases have paths. Made by the macro `@CasePathable`.
///
/// The tag of an action is a generated switch: a reducer uses it to run the one child whose action
/// it is, instead of asking each child in turn.
public protocol CasePathable {
  /// Descriptors of the cases, one property per case, under its name.
  associatedtype Cases
  static var _$cases: Cases { get }
  /// Names of the cases by tag.
  static var _$caseNames: [String] { get }
  var _$tag: Int { get }
  /// The `id` of what the case carries, of an enum state whose payload has one.
  var _$payloadID: AnyHashable? { get }
  /// The cases as types, one property per case, under its name: what compositions name.
  associatedtype CaseLenses
}

extension CasePathable {
  @inlinable public var _$payloadID: AnyHashable? { nil }
}

/// Names a case, as in `\.chat`. Resolved once, when a reducer is built.
public typealias CaseKey<Action: CasePathable, Value> = KeyPath<
  Action.Cases, CasePath<Action, Value>
>
