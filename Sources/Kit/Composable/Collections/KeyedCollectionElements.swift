/// A collection of elements that know their keys.
public typealias KeyedCollectionOf<Element: Identifiable> = KeyedCollection<Element.ID, Element>

// What follows asks the elements for their keys.
extension KeyedCollection where Element: Identifiable, Element.ID == ID {
  /// Makes a collection of elements in order.
  ///
  /// - Precondition: no two elements have the same key. See ``init(_:)`` for elements that may.
  /// - Complexity: O(n).
  @inlinable public init(uniqueElements elements: some Sequence<Element>) {
    self.init()
    for element in elements {
      precondition(append(element) != nil, "two elements have the key \(element.id)")
    }
  }

  /// Appends the elements with new keys, in order, and leaves out the others.
  ///
  /// - Complexity: O(m) amortised for m elements.
  @inlinable public mutating func append(contentsOf elements: some Sequence<Element>) {
    for element in elements { append(element) }
  }

  /// Replaces the element with the same key, or appends it. The same as ``upsert(_:)``.
  ///
  /// - Returns: the element that was replaced.
  /// - Complexity: O(1) amortised.
  @inlinable @discardableResult
  public mutating func updateOrAppend(_ element: Element) -> Element? { upsert(element) }

  /// Inserts an element with a new key before the one at a position; at the end if that is `count`.
  ///
  /// - Precondition: the position is from 0 to `count`.
  /// - Returns: the element's slot; `nil`, with nothing changed, if the key is taken.
  /// - Complexity: O(1) amortised at the end, O(n) elsewhere.
  @inlinable @discardableResult
  public mutating func insert(_ element: Element, at position: Int) -> KeyedSlot? {
    let index = index(atPosition: position)
    return insert(element, at: index == endIndex ? .last : .before(id(at: index)))
  }

  /// Removes the element with the key of this one.
  ///
  /// - Returns: the element that was removed; `nil` if there is none with the key.
  /// - Complexity: O(1) amortised.
  @inlinable @discardableResult
  public mutating func remove(_ element: Element) -> Element? { remove(id: element.id) }
}

/// A literal lists the elements in order: `[]`, `[Row.State(id: 1)]`. A stack numbers them.
///
/// Elements that have no keys of their own, in a collection that is no stack, stop the program: append them with
/// ``append(_:id:)``. So do two elements with one key.
extension KeyedCollection: ExpressibleByArrayLiteral {
  // The conformance has no condition: Swift allows one only, and elements of a stack have no keys.
  @inlinable public init(arrayLiteral elements: Element...) {
    self.init()
    for element in elements {
      guard let id = keyOfLiteral(element) else {
        preconditionFailure("\(Element.self) has no key of its own: use append(_:id:)")
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
