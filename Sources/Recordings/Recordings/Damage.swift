/// Where a recording begins to differ from what was written.
package struct Damage: Sendable, Equatable, CustomStringConvertible {
  package enum Kind: Sendable, Equatable {
    /// A line is not as it was written.
    case changed
    /// There is no such file.
    case missing
    /// The file is of the recording with this name.
    case foreign(String)
    /// It is not a file, for this reason.
    case unreadable(String)
  }

  /// The number of the segment.
  package var segment: Int
  /// The number of the last line (its `n`) before the damage; `nil` if it is not known, because the
  /// segment was written by a version that did not number its lines, or because its first line is
  /// damaged.
  package var lastGoodLine: Int?
  package var kind: Kind

  package init(segment: Int, lastGoodLine: Int? = nil, _ kind: Kind = .changed) {
    self.segment = segment
    self.lastGoodLine = lastGoodLine
    self.kind = kind
  }

  package var description: String {
    switch kind {
    case .changed:
      let place =
        lastGoodLine.map { " after line \($0); all lines up to this line can be read" } ?? ""
      return "segment \(segment) has been altered or is incomplete\(place)"
    case .missing: return "segment \(segment) is missing"
    case .foreign(let name): return "segment \(segment) belongs to recording '\(name)'"
    case .unreadable(let reason): return reason
    }
  }
}
