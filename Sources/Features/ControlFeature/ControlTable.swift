import LiveEvents

/// Values by the names of their controls, in the order in which the names first appeared.
///
/// A panel has few controls, so comparing names in sequence is faster than hashing them. Lookup and
/// change are O(n). The throttle limits the number of names.
package struct ControlTable<Value: Equatable & Sendable & Codable>: Equatable, Sendable,
  Codable
{
  package struct Entry: Equatable, Sendable, Codable {
    package let name: String
    package fileprivate(set) var value: Value
  }

  package private(set) var entries: [Entry] = []

  package init() {}

  package var count: Int { entries.count }
  package var isEmpty: Bool { entries.isEmpty }
  package var names: [String] { entries.map(\.name) }

  /// The value of a control, if it has one. Setting `nil` removes the control and keeps the order
  /// of the others.
  package subscript(name: String) -> Value? {
    get { position(of: name).map { entries[$0].value } }
    set {
      switch (position(of: name), newValue) {
      case (let position?, let value?): entries[position].value = value
      case (let position?, nil): entries.remove(at: position)
      case (nil, let value?): entries.append(Entry(name: name, value: value))
      case (nil, nil): return
      }
    }
  }

  private func position(of name: String) -> Int? { entries.firstIndex { $0.name == name } }
}

extension ControlTable {
  /// Checks the size of the table, and its values.
  ///
  /// The limit is twice the number of controls that events may name, because a restored room also
  /// keeps the controls that it knew before the restart.
  func checkBounds(
    _ name: String, _ isPossible: (Value) -> Bool = { _ in true }
  ) throws(OutOfBounds) {
    let isWithin =
      entries.count <= 2 * ControlThrottle.nameCapacity
      && entries.allSatisfy { entry in
        entry.name.utf8.count <= EventLimits.nameLength && isPossible(entry.value)
      }
    guard isWithin else { throw OutOfBounds(name) }
  }
}
