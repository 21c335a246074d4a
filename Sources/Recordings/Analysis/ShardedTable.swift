/// A dictionary of many shards that are rehashed separately, so that no insertion takes long.
struct ShardedTable<Value> {
  private var shards: [[UInt64: Value]]

  /// - Parameter shardCount: a power of two, so large that each shard has at most a few hundred
  ///   values.
  init(shardCount: Int = 4096) {
    precondition(shardCount > 0 && shardCount & (shardCount - 1) == 0)
    shards = Array(repeating: [:], count: shardCount)
  }

  subscript(key: UInt64) -> Value? {
    get { shards[shardIndex(of: key)][key] }
    set { shards[shardIndex(of: key)][key] = newValue }
  }

  /// Changes the value of `key`, which is `initial` if it is missing.
  mutating func update(
    _ key: UInt64, from initial: @autoclosure () -> Value, _ body: (inout Value) -> Void
  ) {
    body(&shards[shardIndex(of: key)][key, default: initial()])
  }

  private func shardIndex(of key: UInt64) -> Int {
    Int(truncatingIfNeeded: key) & (shards.count - 1)
  }

  var shardCount: Int { shards.count }

  /// Frees the memory, one shard at a time. The table must not be used afterwards.
  mutating func release(_ slice: inout TimeSlice) async {
    while shards.popLast() != nil { await slice.yieldUncancelledIfDue() }
  }

  func shard(_ index: Int) -> [UInt64: Value] { shards[index] }

  mutating func changeShard(_ index: Int, _ body: (inout [UInt64: Value]) -> Void) {
    body(&shards[index])
  }
}

extension ShardedTable: Sendable where Value: Sendable {}

/// An array of chunks, so that no insertion takes long.
struct ChunkedArray<Element> {
  private static var chunk: Int { 4096 }
  private var chunks: [[Element]] = []
  private(set) var count = 0

  mutating func append(_ element: Element) {
    if count % Self.chunk == 0 {
      chunks.append([])
      chunks[chunks.count - 1].reserveCapacity(Self.chunk)
    }
    chunks[chunks.count - 1].append(element)
    count += 1
  }

  /// Frees the memory, one chunk at a time.
  mutating func release(_ slice: inout TimeSlice) async {
    while !chunks.isEmpty {
      // In pieces, because elements may own memory.
      while case let left = chunks[chunks.count - 1].count, left > 0 {
        chunks[chunks.count - 1].removeLast(min(512, left))
        await slice.yieldUncancelledIfDue()
      }
      chunks.removeLast()
    }
    count = 0
  }

  subscript(index: Int) -> Element {
    get { chunks[index / Self.chunk][index % Self.chunk] }
    set { chunks[index / Self.chunk][index % Self.chunk] = newValue }
  }
}

extension ChunkedArray: Sendable where Element: Sendable {}

/// The first `limit` elements in a total order, of all that are offered.
struct Best<Element> {
  private(set) var elements: [Element] = []
  private let limit: Int
  private let precedes: (Element, Element) -> Bool

  init(_ limit: Int, by precedes: @escaping (Element, Element) -> Bool) {
    self.limit = limit
    self.precedes = precedes
  }

  mutating func offer(_ element: Element) {
    if elements.count == limit, let last = elements.last, !precedes(element, last) { return }
    let index = elements.firstIndex { precedes(element, $0) } ?? elements.count
    elements.insert(element, at: index)
    if elements.count > limit { elements.removeLast() }
  }
}
