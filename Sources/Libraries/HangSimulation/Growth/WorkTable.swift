/// The durations of pieces of a run's real code, with the sizes of the state.
struct WorkTable: Sendable {
  /// One evaluation or reduction.
  struct Sample: Sendable {
    /// The duration in nanoseconds.
    var work: Int64
    /// The number of elements that the view showed or the action carried.
    var elements: Int
    /// The row of ``sizes`` that was read at the end of the sample's turn.
    var look: Int
  }

  /// A view or an action kind.
  struct Target: Sendable {
    var kind: GrowthFinding.Kind
    var name: String
    /// Samples are kept only in turns whose number is a multiple of this power of two.
    var stride = 1
    /// The turn of the newest sample, and the number of samples in that turn.
    var turn = 0
    var inTurn = 0
    var samples: [Sample] = []
  }

  var targets: [Target] = []
  /// The paths of the collections.
  var paths: [String] = []
  /// One row per reading of the state. Early rows are shorter because further collections appear
  /// later.
  var sizes: [[Int]] = []

  /// Returns the size of a collection at the time of each sample.
  func sizes(of path: Int, at samples: [Sample]) -> [Int] {
    samples.map { sample in
      guard sample.look < sizes.count, path < sizes[sample.look].count else { return 0 }
      return sizes[sample.look][path]
    }
  }

  /// Returns the largest size of a collection at any reading; 0 if it is unknown.
  func largest(_ path: String) -> Int {
    guard let path = paths.firstIndex(of: path) else { return 0 }
    return sizes.reduce(0) { max($0, path < $1.count ? $1[path] : 0) }
  }

  /// Returns whether a collection reached its largest size before the last third of the run: it is
  /// bounded or full.
  func isBounded(_ path: String) -> Bool {
    guard let path = paths.firstIndex(of: path) else { return false }
    func largest(_ rows: some Sequence<[Int]>) -> Int {
      rows.reduce(0) { max($0, path < $1.count ? $1[path] : 0) }
    }
    let early = sizes.count * 2 / 3
    return largest(sizes.prefix(early)) >= largest(sizes.dropFirst(early))
  }

  /// Replaces the duration of each sample by the shorter duration of two identical runs.
  ///
  /// Noise can only add time, and rarely affects the same evaluation in each run.
  ///
  /// - Returns: False, without any change, if the runs did not do the same work.
  mutating func keepMinimum(of other: WorkTable) -> Bool {
    guard targets.map(\.samples.count) == other.targets.map(\.samples.count) else { return false }
    for (target, samples) in other.targets.map(\.samples).enumerated() {
      for (index, sample) in samples.enumerated() {
        let work = targets[target].samples[index].work
        targets[target].samples[index].work = min(work, sample.work)
      }
    }
    return true
  }
}
