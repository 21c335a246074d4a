import ViewGraph

/// Finds the sizes with which measured work grows.
struct GrowthSearch {
  /// The growth found in one view or action kind.
  struct Found: Sendable {
    var kind: GrowthFinding.Kind
    var name: String
    /// The collections that explain the work, best first.
    var fields: [String]
    var fit: SizeFit
    /// Whether the work follows the size up and down; see ``GrowthSearch/follows(_:_:)``.
    var isFollowing: Bool

    /// Whether other load on the machine cannot be the cause.
    var isCertain: Bool { isFollowing || isLarge }

    private var isLarge: Bool {
      fit.tau >= 0.9 && fit.span >= 1_000_000
        && fit.work(at: fit.sizes.upperBound) >= 4 * fit.work(at: fit.sizes.lowerBound)
    }
  }

  /// The smallest reported growth of one evaluation, in nanoseconds: 0.2 % of a frame at 60 Hz.
  private static let least = 30_000.0
  /// The minimum ratio of the work at the largest size to the work at the smallest.
  private static let leastRatio = 1.3
  /// The minimum growth of a collection, in elements. Smaller changes prove nothing: four
  /// measurements in random order rise in one of 24 cases, and a run compares hundreds of pairs of
  /// work and size.
  private static let leastElements = 10
  private static let leastTau = 0.8
  private static let leastConfidence = 0.5
  /// The minimum number of measurements.
  static let fewest = 12
  /// Another collection explains the work nearly as well if its residual is at most this many times
  /// the smallest.
  private static let similar = 1.25
  /// A bounded collection explains the work if its residual is at most this many times the
  /// smallest.
  private static let explains = 2.0

  /// Work that takes less time than this on the device, in nanoseconds, is not reported if it is
  /// rare or if the collection is bounded. A quarter of a frame at 60 Hz.
  private static let leastAlone = 4_000_000.0
  /// Work is rare if it takes a smaller share of the thread's time than this.
  private static let leastShare = 0.001

  let table: WorkTable
  let device: Device
  let duration: VirtualTime
  /// Returns the names of the fields that the views with a given name read. Work is more likely to
  /// grow with these fields than with others.
  let reads: (String) -> [String]

  /// The findings in the order of the table.
  var found: [Found] { table.targets.flatMap(found) }

  private func found(_ target: WorkTable.Target) -> [Found] {
    guard target.samples.count >= Self.fewest else { return [] }
    var work = target.samples.map { Double($0.work) }
    // For a screen without growing work, the search nearly always ends here.
    let sorted = work.sorted()
    guard sorted[sorted.count - 1] - sorted[0] >= Self.least else { return [] }
    let elements = target.samples.map(\.elements)
    var result: [Found] = []
    if let first = best(target, work, elements) {
      result.append(first)
      guard first.fields[0] == GrowthFinding.elements else { return result }
      for (index, count) in elements.enumerated() {
        work[index] -= first.fit.work(at: count) - first.fit.work(at: first.fit.sizes.lowerBound)
      }
      if let second = best(target, work, nil) { result.append(second) }
    }
    return result
  }

  /// - Parameter elements: The numbers of elements; `nil` if their part of the work was already
  ///   subtracted.
  private func best(
    _ target: WorkTable.Target, _ work: [Double], _ elements: [Int]?
  ) -> Found? {
    var fits: [(field: String, sizes: [Int], fit: SizeFit)] = []
    func look(_ field: String, _ sizes: [Int]) {
      // Most collections do not change.
      guard sizes.contains(where: { $0 != sizes[0] }) else { return }
      if let fit = SizeFit.best(sizes, work), accepts(fit) { fits.append((field, sizes, fit)) }
    }
    // The number of elements comes first, because the simulator can charge for elements: of equally
    // good explanations, the first is chosen.
    if let elements { look(GrowthFinding.elements, elements) }
    for (number, path) in table.paths.enumerated() {
      look(path, table.sizes(of: number, at: target.samples))
    }
    guard let least = fits.map(\.fit.residual).min() else { return nil }
    // If a bounded collection explains the work, any other collection that grew at the same time
    // does too.
    let harmless = fits.contains {
      $0.fit.residual <= Self.explains * least + 1 && isHarmless($0.field, $0.fit, target)
    }
    if harmless { return nil }
    let similar = fits.filter { $0.fit.residual <= Self.similar * least + 1 }
    let ranked = similar.enumerated().sorted {
      (rank($0.element.field, of: target), $0.offset) < (
        rank($1.element.field, of: target), $1.offset
      )
    }.map(\.element)
    return Found(
      kind: target.kind, name: target.name, fields: ranked.map(\.field), fit: ranked[0].fit,
      isFollowing: Self.follows(ranked[0].sizes, work))
  }

  /// Returns whether the work rises when the size rises, and falls when the size falls, from one
  /// measurement to the next. Both must be more frequent than chance allows, by three standard
  /// deviations.
  ///
  /// Load that increases during a run makes all work rise, so it can imitate growth with a size
  /// that only rises. It cannot make work fall whenever a size falls.
  private static func follows(_ sizes: [Int], _ work: [Double]) -> Bool {
    func agrees(_ direction: Int) -> Bool {
      var (count, balance) = (0, 0)
      for index in sizes.indices.dropFirst()
      where (sizes[index] - sizes[index - 1]).signum() == direction {
        let change = work[index] - work[index - 1]
        count += 1
        balance += (change > 0 ? 1 : change < 0 ? -1 : 0) * direction
      }
      return balance > 0 && balance * balance >= 9 * count
    }
    return agrees(1) && agrees(-1)
  }

  /// Whether the work is short on the device, and either rare or limited because the collection has
  /// stopped growing.
  private func isHarmless(_ field: String, _ fit: SizeFit, _ target: WorkTable.Target) -> Bool {
    let size = field == GrowthFinding.elements ? fit.sizes.upperBound : table.largest(field)
    let work = fit.work(at: size) * Double(device.slowdown) / 1_000_000
    let count = Double(target.samples.count * target.stride)
    let isRare = work * count < Self.leastShare * Double(duration.nanoseconds)
    return work < Self.leastAlone && (isRare || table.isBounded(field))
  }

  private func accepts(_ fit: SizeFit) -> Bool {
    let (least, most) = (
      fit.work(at: fit.sizes.lowerBound), fit.work(at: fit.sizes.upperBound)
    )
    return fit.sizes.upperBound - fit.sizes.lowerBound >= Self.leastElements
      && fit.tau >= Self.leastTau && fit.span >= Self.least && most >= Self.leastRatio * least
      && fit.confidence >= Self.leastConfidence
  }

  /// Returns a rank by the field's name; 0 for the most likely cause.
  private func rank(_ field: String, of target: WorkTable.Target) -> Int {
    if field == GrowthFinding.elements { return 0 }
    switch target.kind {
    case .view:
      let names = Set(field.split(separator: ".").map(String.init))
      return names.isDisjoint(with: reads(target.name)) ? 2 : 1
    case .action:
      let child = target.name.split(separator: ".").dropLast().joined(separator: ".")
      return child.isEmpty || field.hasPrefix(child + ".") ? 1 : 2
    }
  }
}
