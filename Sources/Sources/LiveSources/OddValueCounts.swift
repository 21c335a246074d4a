/// How often members had a value of which a source could make no use, by their names.
package struct OddValueCounts: Equatable, Sendable {
  private var counts: [String: Int] = [:]

  package init() {}

  package mutating func note(_ names: [String]) {
    for name in names { counts[name, default: 0] += 1 }
  }

  /// Such as `odd values left out: 2 bw_in, 1 frame_rate`; `nil` if there were none.
  package var text: String? {
    let names = counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
    return names.isEmpty ? nil : "odd values left out: \(names.joined(separator: ", "))"
  }
}
