import ViewGraph

/// Finds out which measured work grows with which size.
struct GrowthSearch {
  /// What was found of one view or kind of action.
  struct Found: Sendable {
    var kind: GrowthFinding.Kind
    var name: String
    /// The best field first.
    var fields: [String]
    var fit: SizeFit

    /// Whether no machine, however busy, makes such a difference by itself.
    var isCertain: Bool {
      fit.tau >= 0.9 && fit.span >= 1_000_000
        && fit.work(at: fit.sizes.upperBound) >= 4 * fit.work(at: fit.sizes.lowerBound)
    }
  }

  /// Growth that adds less than this to one evaluation is not worth a word: 0.2 % of a frame at 60 per second.
  private static let least = 30_000.0
  /// The largest size has to take so many times as long as the smallest.
  private static let leastRatio = 1.3
  /// A collection that gains fewer elements than this in a run does not show how work grows: four measurements in random
  /// order rise in one of 24 cases, and hundreds of pairs of work and size are compared in a run.
  private static let leastElements = 10
  private static let leastTau = 0.8
  private static let leastConfidence = 0.5
  /// Fewer measurements say nothing.
  static let fewest = 12
  /// Another field explains the work nearly as well if it leaves no more than this many times as much over.
  private static let similar = 1.25
  /// A bounded collection explains the work if it leaves no more than this many times as much over.
  private static let explains = 2.0

  /// What takes less than this on the device, a quarter of a frame at 60 per second, is no finding if it is rare, or if
  /// the collection is bounded.
  private static let leastAlone = 4_000_000.0
  /// What takes less than this share of the thread's time is rare.
  private static let leastShare = 0.001

  let table: WorkTable
  let device: Device
  let duration: VirtualTime
  /// Names of the fields that the views of a name read, which are likelier to be what their work grows with.
  let reads: (String) -> [String]

  /// What grows, in the order of the table.
  var found: [Found] { table.targets.flatMap(found) }

  private func found(_ target: WorkTable.Target) -> [Found] {
    guard target.samples.count >= Self.fewest else { return [] }
    var work = target.samples.map { Double($0.work) }
    // Nearly everything that a sound screen does ends here.
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

  /// - Parameter elements: `nil` if what they explain was already taken off.
  private func best(
    _ target: WorkTable.Target, _ work: [Double], _ elements: [Int]?
  ) -> Found? {
    var fits: [(field: String, fit: SizeFit)] = []
    func look(_ field: String, _ sizes: [Int]) {
      // Most collections stay as they are.
      guard sizes.contains(where: { $0 != sizes[0] }) else { return }
      if let fit = SizeFit.best(sizes, work), accepts(fit) { fits.append((field, fit)) }
    }
    // The simulator can charge for elements: they come first among equals.
    if let elements { look(GrowthFinding.elements, elements) }
    for (number, path) in table.paths.enumerated() {
      look(path, table.sizes(of: number, at: target.samples))
    }
    guard let least = fits.map(\.fit.residual).min() else { return nil }
    // What a bounded collection explains, another one that fills up at the same time explains, too.
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
      kind: target.kind, name: target.name, fields: ranked.map(\.field), fit: ranked[0].fit)
  }

  /// Whether the work is short on the device, and either rare or at its end, since the collection has stopped growing.
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

  /// 0 for what is the likeliest to be the reason, by its name.
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
