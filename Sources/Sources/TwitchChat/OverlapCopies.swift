/// Recognises lines without an identifier (a ban, the modes of a channel) that several connections have sent,
/// by how often each has sent them: two equal lines of one connection are two.
struct OverlapCopies {
  /// Different lines that are remembered; further ones count as new.
  static let capacity = 4_096

  private struct Count {
    var forwarded = 0
    var byConnection: [Int: Int] = [:]
  }

  private var counts: [Int: Count] = [:]

  /// Whether a line is not a copy of one that another connection has sent. O(length).
  mutating func isNew(_ line: UnsafeRawBufferPointer, on connection: Int) -> Bool {
    let hash = hash(of: line)
    guard counts[hash] != nil || counts.count < Self.capacity else { return true }
    let sent = counts[hash, default: Count()].byConnection[connection, default: 0] + 1
    counts[hash, default: Count()].byConnection[connection] = sent
    guard sent > counts[hash, default: Count()].forwarded else { return false }
    counts[hash, default: Count()].forwarded = sent
    return true
  }
}

private func hash(of bytes: UnsafeRawBufferPointer) -> Int {
  var hasher = Hasher()
  hasher.combine(bytes: bytes)
  return hasher.finalize()
}
