package import Composable

/// Numbers the kinds of actions that reach the reducers of a store. The names, such as
/// `chat.messages`, are also used in the causes of evaluations.
package struct ActionKinds: Sendable {
  package let names: [String]
  private let numbers: [UInt64: Int]

  package init(_ trace: ActionTrace) {
    var kinds: [(code: UInt64, name: String)] = []
    /// Adds the kinds nested in a kind, or the kind itself if it has none.
    func add(_ code: UInt64, _ name: String, level: UInt64) {
      var isLeaf = true
      if level < 8 {
        for byte in 1...254 as ClosedRange<UInt64> {
          let below = code | byte << (8 * level)
          let nameBelow = trace.name(of: below)
          // For an unknown code, the trace returns the name of the nearest known kind.
          guard nameBelow != name else { break }
          isLeaf = false
          add(below, nameBelow, level: level + 1)
        }
      }
      if isLeaf { kinds.append((code, name)) }
    }
    add(0, "", level: 0)
    names = kinds.map(\.name)
    numbers = Dictionary(uniqueKeysWithValues: kinds.enumerated().map { ($1.code, $0) })
  }

  /// The number of kinds: one for each of ``names``, and one for actions that no child handled.
  var count: Int { names.count + 1 }

  /// Returns the number of the kind that is being reduced according to a trace.
  func number(of trace: ActionTrace) -> Int { numbers[trace.code] ?? names.count }

  func name(_ number: Int) -> String { number < names.count ? names[number] : "(no child)" }
}
