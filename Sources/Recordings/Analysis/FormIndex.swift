/// Forms of texts, numbered from 0 in the order in which they were seen, each joined with those
/// that are nearly identical to it.
struct FormIndex: Releasable, Sendable {
  private var form = TextForm()
  /// The number of each form, by its hash.
  private var numbers: ShardedTable<Int>
  private var parents = ChunkedArray<Int>()
  private var signatures = ChunkedArray<UInt32>()
  /// For each band, the first form that had these minima.
  private var buckets: ShardedTable<Int>
  /// The roots that the newest form joined: the first no longer is one, and counts with the second.
  private(set) var joins: [(root: Int, into: Int)] = []

  /// - Parameter shardCount: see ``ShardedTable``.
  init(shardCount: Int = 4096) {
    numbers = ShardedTable(shardCount: shardCount)
    buckets = ShardedTable(shardCount: shardCount)
  }

  /// How many forms there are.
  var count: Int { parents.count }

  /// The number of a text's form, which is ``count`` minus one if it is new; `nil` if the text is
  /// too short to be compared.
  mutating func add(_ bytes: UnsafeBufferPointer<UInt8>) -> (number: Int, isNew: Bool)? {
    guard let hash = form.read(bytes) else { return nil }
    if let known = numbers[hash] { return (known, false) }
    let number = count
    numbers[hash] = number
    parents.append(number)
    form.sign()
    for value in form.minimum { signatures.append(value) }
    join(number)
    return (number, true)
  }

  private mutating func join(_ number: Int) {
    joins.removeAll(keepingCapacity: true)
    for band in 0..<TextForm.bands {
      let key = form.key(ofBand: band)
      guard let other = buckets[key] else {
        buckets[key] = number
        continue
      }
      let (root, target) = (root(of: number), root(of: other))
      if root != target, form.agrees(signatures, at: other * TextForm.minima) {
        parents[root] = target
        joins.append((root, target))
      }
    }
  }

  /// The form that represents all those joined with this one.
  mutating func root(of number: Int) -> Int {
    var number = number
    while parents[number] != number {
      parents[number] = parents[parents[number]]
      number = parents[number]
    }
    return number
  }

  mutating func release(_ slice: inout TimeSlice) async {
    await numbers.release(&slice)
    await parents.release(&slice)
    await signatures.release(&slice)
    await buckets.release(&slice)
  }
}
