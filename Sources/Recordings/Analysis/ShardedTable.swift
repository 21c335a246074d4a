/// A dictionary in many parts, so that no growth of it takes long: a part is rehashed by itself.
struct ShardedTable<Value> {
  private var shards: [[UInt64: Value]]

  /// - Parameter shardCount: a power of two; so many parts that each has a few hundred values at most.
  init(shardCount: Int = 4096) {
    precondition(shardCount > 0 && shardCount & (shardCount - 1) == 0)
    shards = Array(repeating: [:], count: shardCount)
  }

  subscript(key: UInt64) -> Value? {
    get { shards[place(of: key)][key] }
    set { shards[place(of: key)][key] = newValue }
  }

  /// Changes the value of `key`, which begins as `initial`.
  mutating func update(
    _ key: UInt64, from initial: @autoclosure () -> Value, _ body: (inout Value) -> Void
  ) {
    body(&shards[place(of: key)][key, default: initial()])
  }

  private func place(of key: UInt64) -> Int { Int(truncatingIfNeeded: key) & (shards.count - 1) }

  var shardCount: Int { shards.count }

  /// Gives the memory back, part by part; empty and not to be used afterwards.
  mutating func release(_ slice: inout Slice) async {
    while shards.popLast() != nil { await slice.giveWayIfDue() }
  }

  func shard(_ index: Int) -> [UInt64: Value] { shards[index] }
}

/// An array in many parts, so that no growth of it takes long.
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

  /// Gives the memory back, part by part.
  mutating func release(_ slice: inout Slice) async {
    while !chunks.isEmpty {
      // In pieces: elements may own memory, too.
      while case let left = chunks[chunks.count - 1].count, left > 0 {
        chunks[chunks.count - 1].removeLast(min(512, left))
        await slice.giveWayIfDue()
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

/// The best few of many, by an order without ties.
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
    let place = elements.firstIndex { precedes(element, $0) } ?? elements.count
    elements.insert(element, at: place)
    if elements.count > limit { elements.removeLast() }
  }
}
