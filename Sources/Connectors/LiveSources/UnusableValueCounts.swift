/// Counts unusable values by the name of their member.
package struct UnusableValueCounts: Equatable, Sendable {
  private var counts: [String: Int] = [:]

  package init() {}

  package mutating func add(_ names: [String]) {
    for name in names { counts[name, default: 0] += 1 }
  }

  /// A remark such as `unusable values ignored: 2 bw_in, 1 frame_rate`. `nil` if every value was
  /// usable.
  package var text: String? {
    let names = counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
    return names.isEmpty ? nil : "unusable values ignored: \(names.joined(separator: ", "))"
  }
}
