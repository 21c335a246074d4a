/// The actions of a ``StackState`` whose screens all belong to one feature or to one enum of
/// features.
///
///     @Reducer enum Screens { case song(SongScreen); case album(AlbumScreen) }
///     …
///     case path(StackActionOf<Screens>)
public typealias StackActionOf<Feature: FeatureTypes> = NavigationAction<
  Feature.State, Feature.Action
>

/// The actions of a ``StackState``; see ``ReducerStep/stack(_:action:child:)``.
public enum NavigationAction<State, Action> {
  /// An action of the screen with this number.
  case element(id: StackElementID, action: Action)
  /// After the parent has reduced the action, removes this screen and all screens above it.
  case popFrom(id: StackElementID)
  /// Pushes a screen on top, before the parent reduces the action. The number must be larger than
  /// every number used so far; ``KeyedCollection/nextID`` returns such a number.
  case push(id: StackElementID, state: State)
}

extension NavigationAction: Sendable where State: Sendable, Action: Sendable {}
extension NavigationAction: Equatable where State: Equatable, Action: Equatable {}

// Written by hand, because other modules cannot inline what the macro generates.
extension NavigationAction: CasePathable {
  /// The paths of the cases.
  public struct Cases: Sendable {
    /// The case ``NavigationAction/element(id:action:)``. The path of a single screen is
    /// `\.path[id: 0]`.
    public var element: CasePath<NavigationAction, (id: StackElementID, action: Action)> {
      CasePath(tag: 0, name: "element", embed: { .element(id: $0.id, action: $0.action) }) {
        if case .element(let id, let action) = $0 { (id, action) } else { nil }
      }
    }

    /// The case ``NavigationAction/popFrom(id:)``.
    public var popFrom: CasePath<NavigationAction, StackElementID> {
      CasePath(tag: 1, name: "popFrom", embed: { .popFrom(id: $0) }) {
        if case .popFrom(let id) = $0 { id } else { nil }
      }
    }

    /// The case ``NavigationAction/push(id:state:)``.
    public var push: CasePath<NavigationAction, (id: StackElementID, state: State)> {
      CasePath(tag: 2, name: "push", embed: { .push(id: $0.id, state: $0.state) }) {
        if case .push(let id, let state) = $0 { (id, state) } else { nil }
      }
    }
  }

  public struct CaseLenses: Sendable {}
  public static var _$cases: Cases { Cases() }
  public static var _$caseNames: [String] { ["element", "popFrom", "push"] }

  @inlinable
  public var _$tag: Int {
    switch self {
    case .element: 0
    case .popFrom: 1
    case .push: 2
    }
  }
}

extension CasePath {
  /// Appends the actions of one screen to this path: `\.path[id: 0].backTapped`.
  public subscript<State, Child>(id id: StackElementID) -> CasePath<Root, Child>
  where Value == NavigationAction<State, Child> {
    CasePath<Root, Child>(
      tag: tag, name: "\(name)[id: \(id)]",
      embed: { embed(.element(id: id, action: $0)) },
      extract: { root in
        if case .element(id, let action)? = extract(root) { action } else { nil }
      })
  }
}
