import RateLimiting

/// The nodes that have written lately: those that take partitions, and those that run and take none.
struct KnownNodes: Sendable {
  struct Node: Sendable {
    var instance: String
    var address: String
    var seen: Instant
  }

  /// The key of what a node writes that takes partitions, followed by its name; and of one that takes none, which times the
  /// servers by it.
  static let present = "n_"
  static let idle = "t_"

  private var present: [String: Node] = [:]
  private var idle: [String: Node] = [:]

  /// Those that take partitions and have written lately, by name.
  func present(at now: Instant, within age: Interval) -> [String: Node] {
    present.filter { now - $0.value.seen < age }
  }

  /// Those that run and take none.
  func idle(at now: Instant, within age: Interval) -> [String: Node] {
    idle.filter { name, node in
      now - node.seen < age && present[name].map { $0.seen < node.seen } ?? true
    }
  }

  /// What was written last by a node that takes partitions.
  subscript(name: String) -> Node? { present[name] }

  /// The newest run of a node, whatever it does.
  func instance(of name: String) -> String? {
    [present[name], idle[name]].compactMap(\.self).max { $0.seen < $1.seen }?.instance
  }

  /// An entry of a node was written, or deleted, which is `nil`. Returns the name of one that takes partitions; `nil` for
  /// any other key.
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
