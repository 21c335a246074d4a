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
