import Composable

/// The sizes of the state's collections, sampled at equal intervals of a run.
final class SizeHistory {
  private static let parts: Int64 = 60

  private let look: (inout StateSizes) -> Void
  private let interval: Int64
  /// Private, so that the paths do not depend on how often other code reads the sizes.
  private var sizes = StateSizes()
  /// One row per interval, without the sizes of collections that appear later.
  private var rows: [[Int]] = []
  /// The time of the next sample, checked in each turn, up to a million times per second.
  @exclusivity(unchecked) private var due: Int64 = 0

  /// - Parameter duration: The duration of the run, in nanoseconds.
  init(duration: Int64, _ look: @escaping (inout StateSizes) -> Void) {
    self.look = look
    interval = max(1, duration / Self.parts)
  }

  /// Samples the state if the next interval has begun; otherwise returns immediately.
  func sample(at time: Int64) {
    guard time >= due else { return }
    look(&sizes)
    while due <= time {
      rows.append(sizes.counts)
      due = rows.count > Self.parts ? .max : due + interval
    }
  }

  /// The paths of the collections with their sizes over time. Intervals after the last sample have
  /// the sizes of that sample.
  var collections: [(path: String, sizes: [Int])] {
    let idle = repeatElement(rows.last ?? [], count: Int(Self.parts) + 1 - rows.count)
    return sizes.paths.enumerated().map { index, path in
      (path, (rows + idle).map { index < $0.count ? $0[index] : 0 })
    }
  }
}

extension [Int] {
  /// Whether the sizes grow for the whole run: they never fall, and each third adds at least a
  /// fifth of the total growth.
  var riseWithoutEnd: Bool {
    guard count >= 12, zip(self, dropFirst()).allSatisfy(<=) else { return false }
    let marks = (0...3).map { self[$0 * (count - 1) / 3] }
    let all = marks[3] - marks[0]
    return all > 0 && zip(marks, marks.dropFirst()).allSatisfy { ($1 - $0) * 5 >= all }
  }
}
