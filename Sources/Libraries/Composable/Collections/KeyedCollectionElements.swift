/// A collection of `Identifiable` elements, keyed by their `id`.
public typealias KeyedCollectionOf<Element: Identifiable> = KeyedCollection<Element.ID, Element>

// These methods read the key from the element.
extension KeyedCollection where Element: Identifiable, Element.ID == ID {
  /// Makes a collection of elements, in order.
  ///
  /// - Precondition: No two elements have the same key. Use ``init(_:)`` for elements that may
  ///   share keys.
  /// - Complexity: O(n).
  @inlinable public init(uniqueElements elements: some Sequence<Element>) {
    self.init()
    for element in elements {
      precondition(append(element) != nil, "two elements have the key \(element.id)")
    }
  }

  /// Appends the elements with new keys, in order, and skips the others.
  ///
  /// - Complexity: O(m) amortised for m elements.
  @inlinable public mutating func append(contentsOf elements: some Sequence<Element>) {
    for element in elements { append(element) }
  }

  /// Replaces the element with the same key, or appends the element. Equivalent to ``upsert(_:)``.
  ///
  /// - Returns: The element that was replaced, or nil.
  /// - Complexity: O(1) amortised.
  @inlinable @discardableResult
  public mutating func updateOrAppend(_ element: Element) -> Element? { upsert(element) }

  /// Inserts an element with a new key before the element at a position, or at the end if the
  /// position is `count`.
  ///
  /// - Precondition: The position is between 0 and `count`.
  /// - Returns: The element's slot; `nil`, with nothing changed, if the key is already used.
  /// - Complexity: O(1) amortised at the end, O(n) elsewhere.
  @inlinable @discardableResult
  public mutating func insert(_ element: Element, at position: Int) -> KeyedSlot? {
    let index = index(atPosition: position)
    return insert(element, at: index == endIndex ? .last : .before(id(at: index)))
  }

  /// Removes the element with the same key as the given element.
  ///
  /// - Returns: The removed element, or `nil` if no element has the key.
  /// - Complexity: O(1) amortised.
  @inlinable @discardableResult
  public mutating func remove(_ element: Element) -> Element? { remove(id: element.id) }
}

/// Creates a collection from an array literal, in its order: `[]`, `[Row.State(id: 1)]`. In a
/// ``StackState``, the elements are numbered from 0. Traps if two elements have the same key, or if
/// elements outside of a stack have no `id`; use ``append(_:id:)`` for these.
extension KeyedCollection: ExpressibleByArrayLiteral {
  // The conformance has no condition on `Element`, because Swift allows only one conformance, and
  // the screens of a stack have no `id`.
  @inlinable public init(arrayLiteral elements: Element...) {
    self.init()
    for element in elements {
      guard let id = keyOfLiteral(element) else {
        preconditionFailure("\(Element.self) is not Identifiable: use append(_:id:)")
      }
      precondition(append(element, id: id) != nil, "two elements have the key \(id)")
    }
  }

  @usableFromInline func keyOfLiteral(_ element: Element) -> ID? {
    if ID.self == StackElementID.self { return StackElementID(number: count) as? ID }
    return (element as? any Identifiable)?.anyID as? ID
  }
}

extension Identifiable {
  fileprivate var anyID: Any { id }
}
