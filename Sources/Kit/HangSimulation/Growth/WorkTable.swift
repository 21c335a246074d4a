/// What pieces of a run's real code took, and how large the state was then.
struct WorkTable: Sendable {
  /// One evaluation or reduction.
  struct Sample: Sendable {
    /// In nanoseconds.
    var work: Int64
    /// How many elements it put on the screen, or carried.
    var elements: Int
    /// The row of ``sizes`` that was seen at the end of its turn.
    var look: Int
  }

  /// A view or a kind of action.
  struct Target: Sendable {
    var kind: GrowthFinding.Kind
    var name: String
    /// A sample is kept in turns whose number this divides: a power of two.
    var stride = 1
    /// The turn of the newest sample, and how many it has.
    var turn = 0
    var inTurn = 0
    var samples: [Sample] = []
  }

  var targets: [Target] = []
  /// Paths of collections.
  var paths: [String] = []
  /// One row for each look at the state. Early rows are shorter, since collections appear later.
  var sizes: [[Int]] = []

  /// The size of the collection of this number at each sample.
  func sizes(of path: Int, at samples: [Sample]) -> [Int] {
    samples.map { sample in
      guard sample.look < sizes.count, path < sizes[sample.look].count else { return 0 }
      return sizes[sample.look][path]
    }
  }

  /// The largest size that this collection had at a look; 0 if it is unknown.
  func largest(_ path: String) -> Int {
    guard let path = paths.firstIndex(of: path) else { return 0 }
    return sizes.reduce(0) { max($0, path < $1.count ? $1[path] : 0) }
  }

  /// Whether this collection had its largest size before the last third of the run: it is bounded, or ran full.
  func isBounded(_ path: String) -> Bool {
    guard let path = paths.firstIndex(of: path) else { return false }
    func largest(_ rows: some Sequence<[Int]>) -> Int {
      rows.reduce(0) { max($0, path < $1.count ? $1[path] : 0) }
    }
    let early = sizes.count * 2 / 3
    return largest(sizes.prefix(early)) >= largest(sizes.dropFirst(early))
  }

  /// Of each sample, the shorter time of two runs that did the same.
  ///
  /// Noise only adds, and it rarely adds to the same evaluation in each run.
  ///
  /// - Returns: false, and nothing changed, if the runs did not do the same.
  mutating func takeMinimum(of other: WorkTable) -> Bool {
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
