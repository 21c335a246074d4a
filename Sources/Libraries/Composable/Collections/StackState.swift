/// A stack of screens, ordered from the bottom to the top. Each screen has a unique number.
///
///     var path = StackState<Screen.State>()
///     …
///     case path(StackActionOf<Screen>)
///     …
///     Reduce { … }.stack(\.path, action: \.path) { Screen() }
///
/// The effects of a screen end when it is popped.
public typealias StackState<Element> = KeyedCollection<StackElementID, Element>

/// An action of one screen of a ``StackState``. Use this type if the parent pushes and pops all
/// screens in its own code. For push and pop actions, see ``StackActionOf``.
public typealias StackAction<Action> = ElementAction<StackElementID, Action>

/// The number of a screen in a ``StackState``, counted from 0. A stack never reuses a number, so an
/// action for a popped screen cannot reach another screen. A new stack starts at 0.
public struct StackElementID: Hashable, Sendable, Codable, ExpressibleByIntegerLiteral {
  let number: Int

  init(number: Int) { self.number = number }

  public init(integerLiteral value: Int) { number = value }
}

extension KeyedCollection where ID == StackElementID {
  /// Makes a stack of screens, ordered from the bottom to the top.
  public init(_ elements: some Sequence<Element>) {
    self.init()
    append(contentsOf: elements)
  }

  /// The number of the next pushed screen: one more than the largest number so far, including
  /// popped screens.
  ///
  /// - Complexity: O(n), where n is the largest number of screens that existed at the same time.
  public var nextID: StackElementID {
    // A free slot keeps the number of its last screen. Only a larger number is ever stored in its
    // place, so the largest number so far is always found.
    StackElementID(number: (tenancies.lazy.map(\.id.number).max() ?? -1) + 1)
  }

  /// Pushes a screen on top.
  ///
  /// - Returns: The screen's number, which was ``nextID``.
  /// - Complexity: O(n), where n is the largest number of screens that existed at the same time.
  @discardableResult
  public mutating func push(_ element: Element) -> StackElementID {
    let id = nextID
    append(element, id: id)
    return id
  }

  /// Pushes a screen on top. Equivalent to ``push(_:)``.
  ///
  /// - Complexity: O(n), where n is the largest number of screens that existed at the same time.
  public mutating func append(_ element: Element) { push(element) }

  /// Pushes screens in order, so that the last one is on top.
  ///
  /// - Complexity: O(m n) for m screens, where n is the largest number of screens that existed at
  ///   the same time.
  public mutating func append(contentsOf elements: some Sequence<Element>) {
    for element in elements { push(element) }
  }

  /// Removes and returns the topmost screen, or returns `nil` if there is none.
  ///
  /// - Complexity: O(1) amortised.
  @discardableResult
  public mutating func pop() -> Element? { popLast() }

  /// Removes the screens above the screen with this number, or all screens if no screen has this
  /// number.
  ///
  /// - Complexity: Amortised O(m), where m is the number of removed screens.
  public mutating func pop(to id: StackElementID) {
    while let last = indices.last, self.id(at: last) != id { remove(at: last) }
  }

  /// Removes the screen with this number and all screens above it. Does nothing if no screen has
  /// this number.
  ///
  /// - Complexity: Amortised O(m), where m is the number of removed screens.
  public mutating func pop(from id: StackElementID) {
    guard contains(id: id) else { return }
    pop(to: id)
    pop()
  }
}
