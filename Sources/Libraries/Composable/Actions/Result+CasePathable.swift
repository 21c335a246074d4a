/// Makes the result of an effect usable as an action with case paths: `case response(Result<Reply,
/// Failure>)` has the paths `\.response.success` and `\.response.failure`.
extension Result: CasePathable {
  /// The paths of the cases.
  public struct Cases {
    /// The case `success`.
    public var success: CasePath<Result, Success> {
      CasePath(tag: 0, name: "success", embed: { .success($0) }) { result in
        if case .success(let value) = result { value } else { nil }
      }
    }

    /// The case `failure`.
    public var failure: CasePath<Result, Failure> {
      CasePath(tag: 1, name: "failure", embed: { .failure($0) }) { result in
        if case .failure(let error) = result { error } else { nil }
      }
    }
  }

  public struct CaseLenses {}
  public static var _$cases: Cases { Cases() }
  public static var _$caseNames: [String] { ["success", "failure"] }

  @inlinable
  public var _$tag: Int {
    switch self {
    case .success: 0
    case .failure: 1
    }
  }
}

extension CasePath {
  // `Result` is `CasePathable` only if its types are copyable, a condition that makes the compiler
  // (Swift 6.3) crash when another module names the path of a `Result<Void, _>`. The subscript
  // avoids the condition.
  /// Appends a case of the result to this path: `\.response.success`.
  @inlinable
  public subscript<Success, Failure: Error, Leaf>(
    dynamicMember key: KeyPath<
      Result<Success, Failure>.Cases, CasePath<Result<Success, Failure>, Leaf>
    >
  ) -> CasePath<Root, Leaf> where Value == Result<Success, Failure> {
    let leaf = Value._$cases[keyPath: key]
    return CasePath<Root, Leaf>(
      tag: tag, name: "\(name).\(leaf.name)", embed: { embed(leaf.embed($0)) },
      extract: { extract($0).flatMap(leaf.extract) })
  }

  /// Appends the actions of one element to this path: `\.rows[id: 3].sent`.
  public subscript<ID: Hashable & Sendable, Child>(id id: ID) -> CasePath<Root, Child>
  where Value == ElementAction<ID, Child> {
    CasePath<Root, Child>(
      tag: tag, name: "\(name)[id: \(id)]",
      embed: { embed(ElementAction(id: id, action: $0)) },
      extract: { root in extract(root).flatMap { $0.id == id ? $0.action : nil } })
  }
}
