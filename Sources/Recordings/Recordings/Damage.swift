/// Where a recording begins to differ from what was written.
package struct Damage: Sendable, Equatable, CustomStringConvertible {
  /// The number of the segment.
  package var segment: Int
  /// The number of the last line (its `n`) before the damage; `nil` if it is not known, because the segment was
  /// written by a version that did not number its lines, or because its first line is damaged.
  package var lastGoodLine: Int?

  package init(segment: Int, lastGoodLine: Int? = nil) {
    self.segment = segment
    self.lastGoodLine = lastGoodLine
  }

  package var description: String {
    let place = lastGoodLine.map { " after line \($0); everything up to there can be read" } ?? ""
    return "segment \(segment) differs from what was written\(place)"
  }
}
