/// The first difference between a recording and what was written.
package struct Damage: Sendable, Equatable, CustomStringConvertible {
  package enum Kind: Sendable, Equatable {
    /// A line was changed.
    case changed
    /// The file does not exist.
    case missing
    /// The file belongs to the recording with this name.
    case foreign(String)
    /// The file cannot be read, for this reason.
    case unreadable(String)
  }

  /// The number of the segment.
  package var segment: Int
  /// The number (`n`) of the last line before the damage; `nil` if the first line is damaged, or if
  /// the segment was written by a version that did not number its lines.
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
