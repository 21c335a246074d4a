/// The figures of a run and of its base, for each seed that both have.
struct SeedPairs {
  struct Pair {
    var seed: UInt64
    var found: Int64
    var base: Int64
    var bound: Int64
  }

  let list: [Pair]

  init(_ values: [RunFigures.Value], _ others: [RunFigures.Value], _ bound: ThresholdBound) {
    let bases = Dictionary(others.map { ($0.seed, $0.value) }) { first, _ in first }
    list = values.compactMap { value in
      bases[value.seed].map {
        Pair(seed: value.seed, found: value.value, base: $0, bound: bound.value(base: $0))
      }
    }
  }

  func sum(_ figure: KeyPath<Pair, Int64>) -> Int128 {
    list.reduce(Int128(0)) { $0 + Int128($1[keyPath: figure]) }
  }

  /// Returns the mean of a figure; `nil` if there are no pairs.
  func mean(_ figure: KeyPath<Pair, Int64>) -> Int64? {
    list.isEmpty ? nil : Int64(sum(figure) / Int128(list.count))
  }

  /// Whether there are enough seeds to distinguish a difference from noise, and the difference is
  /// not significant.
  var mayBeNoise: Bool {
    let test = PairedComparison(list.map { (Double($0.bound), Double($0.found)) })
    return test.canTell && !test.isMoreThanNoise
  }
}
