/// A stack of screens: the elements from the bottom to the top, each with a number of its own.
///
///     var path = StackState<Screen.State>()
///     …
///     case path(StackActionOf<Screen>)
///     …
///     Reduce { … }.stack(\.path, action: \.path) { Screen() }
///
/// The effects of a screen end when it is popped.
public typealias StackState<Element> = KeyedCollection<StackElementID, Element>

/// An action of one screen of a ``StackState``, for a stack that only its parent changes; see ``StackActionOf``.
public typealias StackAction<Action> = ElementAction<StackElementID, Action>

/// The number of a screen of a ``StackState``: from 0 upwards, in the order of pushing. A stack gives none
/// twice, so that what was meant for a screen that was popped reaches no other; a stack that replaces it as
/// a whole begins anew.
public struct StackElementID: Hashable, Sendable, Codable, ExpressibleByIntegerLiteral {
  let number: Int

  init(number: Int) { self.number = number }

  public init(integerLiteral value: Int) { number = value }
}

extension KeyedCollection where ID == StackElementID {
  /// A stack of screens, from the bottom to the top.
  public init(_ elements: some Sequence<Element>) {
    self.init()
    append(contentsOf: elements)
  }

  /// The number of the screen that is pushed next: one more than the largest so far, also of the screens that were
  /// popped.
  ///
  /// - Complexity: O(most screens that were there at once).
  public var nextID: StackElementID {
    // A free slot keeps its last number; the largest is replaced by a larger one only.
    StackElementID(number: (tenancies.lazy.map(\.id.number).max() ?? -1) + 1)
  }

  /// Puts a screen on top.
  ///
  /// - Returns: its number, which was ``nextID``.
  /// - Complexity: O(most screens that were there at once).
  @discardableResult
  public mutating func push(_ element: Element) -> StackElementID {
    let id = nextID
    append(element, id: id)
    return id
  }

  /// Puts a screen on top. The same as ``push(_:)``.
  ///
  /// - Complexity: O(most screens that were there at once).
  public mutating func append(_ element: Element) { push(element) }

  /// Puts screens on top, the last one uppermost.
  ///
  /// - Complexity: O(m n) for m screens, where n is the most screens that were there at once.
  public mutating func append(contentsOf elements: some Sequence<Element>) {
    for element in elements { push(element) }
  }

  /// Takes the topmost screen away. Returns it; `nil` if there is none.
  ///
  /// - Complexity: O(1) amortised.
  @discardableResult
  public mutating func pop() -> Element? { popLast() }

  /// Takes away the screens above the one with this number, or all if there is no such screen.
  ///
  /// - Complexity: O(screens taken away) amortised.
  public mutating func pop(to id: StackElementID) {
    while let last = indices.last, self.id(at: last) != id { remove(at: last) }
  }

  /// Takes away the screen with this number and all above it; none if there is no such screen.
  ///
  /// - Complexity: O(screens taken away) amortised.
  public mutating func pop(from id: StackElementID) {
    guard contains(id: id) else { return }
    pop(to: id)
    pop()
  }
}
