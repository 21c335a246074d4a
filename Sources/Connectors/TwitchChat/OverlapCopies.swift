/// Recognises copies of lines without an identifier, such as bans and channel modes, when two
/// connections overlap.
///
/// Counts how often each connection has sent a line, so that two equal lines from one connection
/// are distinct.
struct OverlapCopies {
  /// The maximum number of distinct lines remembered. When this many are remembered, every other
  /// line counts as new.
  static let capacity = 4_096

  private struct LineCounts {
    var forwarded = 0
    var byConnection: [Int: Int] = [:]
  }

  private var counts: [Int: LineCounts] = [:]

  /// Records a line. Returns false for a copy of a line from another connection. Takes O(length).
  mutating func isNew(_ line: UnsafeRawBufferPointer, on connection: Int) -> Bool {
    let hash = hash(of: line)
    guard counts[hash] != nil || counts.count < Self.capacity else { return true }
    let sent = counts[hash, default: LineCounts()].byConnection[connection, default: 0] + 1
    counts[hash, default: LineCounts()].byConnection[connection] = sent
    guard sent > counts[hash, default: LineCounts()].forwarded else { return false }
    counts[hash, default: LineCounts()].forwarded = sent
    return true
  }
}

private func hash(of bytes: UnsafeRawBufferPointer) -> Int {
  var hasher = Hasher()
  hasher.combine(bytes: bytes)
  return hasher.finalize()
}
