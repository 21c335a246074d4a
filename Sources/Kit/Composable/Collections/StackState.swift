/// A stack of screens: the elements from the bottom to the top, each with a number of its own.
///
///     var path = StackState<Screen.State>()
///     …
///     case path(StackAction<Screen.Action>)
///     …
///     Reduce { … }.forEach(\.path, action: \.path) { Screen() }
///
/// The effects of a screen end when it is popped.
public typealias StackState<Element> = KeyedCollection<StackElementID, Element>

/// An action of one screen of a ``StackState``.
public typealias StackAction<Action> = ElementAction<StackElementID, Action>

/// The number of a screen of a ``StackState``: from 0 upwards, in the order of pushing. A stack gives none
/// twice, so that what was meant for a screen that was popped reaches no other; a stack that replaces it as
/// a whole begins anew.
public struct StackElementID: Hashable, Sendable, Codable, ExpressibleByIntegerLiteral {
  let number: Int

  public init(integerLiteral value: Int) { number = value }
}

extension KeyedCollection where ID == StackElementID {
  /// Puts a screen on top.
  ///
  /// - Returns: its number: one more than the largest so far, also of the screens that were popped.
  /// - Complexity: O(most screens that were there at once).
  @discardableResult
  public mutating func push(_ element: Element) -> StackElementID {
    // A free slot keeps its last number; the largest is replaced by a larger one only.
    let last = tenancies.lazy.map(\.id.number).max() ?? -1
    let id = StackElementID(integerLiteral: last + 1)
    append(element, id: id)
    return id
  }

  /// Takes the topmost screen away. Returns it; `nil` if there is none.
  @discardableResult
  public mutating func pop() -> Element? { ids.last.flatMap { remove(id: $0) } }

  /// Takes away the screens above the one with this number, or all if there is no such screen.
  public mutating func pop(to id: StackElementID) {
    for other in ids.reversed().prefix(while: { $0 != id }) { remove(id: other) }
  }
}
