import RateLimiting

/// The nodes that have written an entry recently, and whether they lead partitions.
struct KnownNodes: Sendable {
  struct Node: Sendable {
    var instance: String
    var address: String
    var seenAt: Instant
  }

  /// The prefixes of the keys to which a node's name is appended. A node writes the key with
  /// `present` if it leads partitions, and the key with `idle` if it leads none. Each write also
  /// measures the servers' answer time.
  static let present = "n_"
  static let idle = "t_"

  private var present: [String: Node] = [:]
  private var idle: [String: Node] = [:]

  /// Returns the nodes that lead partitions and have written recently, by name.
  func present(at now: Instant, within age: Interval) -> [String: Node] {
    present.filter { now - $0.value.seenAt < age }
  }

  /// Returns the nodes that run but lead no partitions, by name.
  func idle(at now: Instant, within age: Interval) -> [String: Node] {
    idle.filter { name, node in
      now - node.seenAt < age && present[name].map { $0.seenAt < node.seenAt } ?? true
    }
  }

  /// The newest entry of the node with the prefix `present`; `nil` if there is none.
  subscript(name: String) -> Node? { present[name] }

  /// Returns the newest run of a node, according to the newer of its two entries.
  func instance(of name: String) -> String? {
    [present[name], idle[name]].compactMap(\.self).max { $0.seenAt < $1.seenAt }?.instance
  }

  /// Records that an entry was written, or deleted if `node` is `nil`. Returns the node's name if
  /// the key has the prefix `present`; `nil` for any other key.
  mutating func observed(_ key: String, _ node: Node?) -> String? {
    if key.hasPrefix(Self.idle) {
      idle[String(key.dropFirst(Self.idle.count))] = node
      return nil
    }
    guard key.hasPrefix(Self.present) else { return nil }
    let name = String(key.dropFirst(Self.present.count))
    present[name] = node
    return name
  }
}
