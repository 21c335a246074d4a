import Composable

/// How large the collections of the state were, at equal intervals of a run.
final class SizeHistory {
  private static let parts: Int64 = 60

  private let look: (inout StateSizes) -> Void
  private let interval: Int64
  /// Its own: what is found here must not depend on how often others have looked.
  private var sizes = StateSizes()
  /// One row for each interval. Early rows are shorter, since collections appear later.
  private var rows: [[Int]] = []
  /// When the next row is due. Runs ask in each turn, a million times a second.
  @exclusivity(unchecked) private var due: Int64 = 0

  /// - Parameter duration: in nanoseconds.
  init(duration: Int64, _ look: @escaping (inout StateSizes) -> Void) {
    self.look = look
    interval = max(1, duration / Self.parts)
  }

  /// Called often; looks at the state once for each interval.
  func note(at time: Int64) {
    guard time >= due else { return }
    look(&sizes)
    while due <= time {
      rows.append(sizes.counts)
      due = rows.count > Self.parts ? .max : due + interval
    }
  }

  /// The paths of the collections with their sizes over time. Once the screen is idle, they stay as they are.
  var collections: [(path: String, sizes: [Int])] {
    let idle = repeatElement(rows.last ?? [], count: Int(Self.parts) + 1 - rows.count)
    return sizes.paths.enumerated().map { index, path in
      (path, (rows + idle).map { index < $0.count ? $0[index] : 0 })
    }
  }
}

extension [Int] {
  /// Whether sizes rise all the time: they never fall, and each third of the time adds at least a fifth.
  var riseWithoutEnd: Bool {
    guard count >= 12, zip(self, dropFirst()).allSatisfy(<=) else { return false }
    let marks = (0...3).map { self[$0 * (count - 1) / 3] }
    let all = marks[3] - marks[0]
    return all > 0 && zip(marks, marks.dropFirst()).allSatisfy { ($1 - $0) * 5 >= all }
  }
}
