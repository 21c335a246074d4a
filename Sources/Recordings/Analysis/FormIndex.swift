/// The forms of texts, numbered from 0 in the order of their first occurrence. Nearly identical
/// forms are joined.
struct FormIndex: Releasable, Sendable {
  private var form = TextForm()
  /// The numbers of forms, by their hashes.
  private var numbers: ShardedTable<Int>
  private var parents = ChunkedArray<Int>()
  private var signatures = ChunkedArray<UInt32>()
  /// The first form with given minima in a band.
  private var buckets: ShardedTable<Int>
  /// The pairs of roots that the newest form has joined. The first of a pair is no longer a root.
  private(set) var joins: [(root: Int, into: Int)] = []

  /// - Parameter shardCount: see ``ShardedTable``.
  init(shardCount: Int = 4096) {
    numbers = ShardedTable(shardCount: shardCount)
    buckets = ShardedTable(shardCount: shardCount)
  }

  /// The number of forms.
  var count: Int { parents.count }

  /// Adds a text. Returns the number of the text's form, and whether the form is new; `nil` if the
  /// text is too short to be compared.
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

  /// Returns the form that represents all forms joined with this one.
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
