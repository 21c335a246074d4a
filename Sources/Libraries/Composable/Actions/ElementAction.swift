/// An action of one element of a collection.
///
///     case rows(ElementActionOf<Row>)
///     …
///     case .rows(.element(id: let id, action: .deleteTapped)): state.rows.remove(id: id)
public enum ElementAction<ID: Hashable & Sendable, Action> {
  /// The action `action` of the element with the key `id`.
  case element(id: ID, action: Action)

  /// The action `action` of the element with the key `id`.
  @inlinable
  public init(id: ID, action: Action) { self = .element(id: id, action: action) }

  /// The key of the element.
  @inlinable public var id: ID {
    get {
      switch self {
      case .element(let id, _): id
      }
    }
    set { self = .element(id: newValue, action: action) }
  }

  /// The action for the element.
  @inlinable public var action: Action {
    get {
      switch self {
      case .element(_, let action): action
      }
    }
    set { self = .element(id: id, action: newValue) }
  }
}

extension ElementAction: Sendable where Action: Sendable {}
extension ElementAction: Equatable where Action: Equatable {}
