/// A resource that a server has refused to a client or withdrawn from it.
package enum RefusedResource: String, Codable, Sendable, CaseIterable {
  /// A connection that exceeded a limit.
  case connection
  /// A connection to the ingest socket that exceeded a limit.
  case ingestConnection
  /// A connection to the ingest socket by a user without permission to send.
  case ingestPermission
  /// An idle connection that was closed in favour of another.
  case idleConnection
  /// A call with `more` that exceeded a limit.
  case monitor
  /// A call that is longer than its user may send.
  case callLength
  /// A call that was not completed in time.
  case unfinishedCall
  /// Memory that other clients needed: the connection that used it was closed.
  case memory
}

/// The number of refusals by user and resource. Users beyond ``maximumUsers`` are counted together.
package struct RefusalCounts: Sendable, Equatable {
  /// One row: a user and a resource.
  package struct Row: Sendable, Hashable {
    /// The user, or `nil` for all users who are not counted separately.
    package let user: UInt32?
    package let resource: RefusedResource

    package init(user: UInt32?, resource: RefusedResource) {
      self.user = user
      self.resource = resource
    }
  }

  /// The number of users who are counted separately, limited because untrusted clients may have any
  /// number of users.
  package static let maximumUsers = 64

  private var users: Set<UInt32> = []
  private var counts: [Row: Int] = [:]
  /// The total number of refusals.
  package private(set) var total = 0

  package init() {}

  package mutating func add(_ resource: RefusedResource, user: UInt32?, count: Int = 1) {
    var user = user
    if let known = user, !users.contains(known) {
      if users.count < Self.maximumUsers { users.insert(known) } else { user = nil }
    }
    counts[Row(user: user, resource: resource), default: 0] += count
    total += count
  }

  package mutating func add(_ other: RefusalCounts) {
    for (row, count) in other.rows { add(row.resource, user: row.user, count: count) }
  }

  /// Returns the refusals since `earlier`, a former value of these counts.
  package func since(_ earlier: RefusalCounts) -> [(row: Row, count: Int)] {
    rows.compactMap { row, count in
      let new = count - (earlier.counts[row] ?? 0)
      return new > 0 ? (row, new) : nil
    }
  }

  /// The rows, ordered by user and then by resource. The row of the users that are counted together
  /// is last.
  package var rows: [(row: Row, count: Int)] {
    let order = RefusedResource.allCases
    return counts.map { ($0.key, $0.value) }.sorted { left, right in
      let (first, second) = (left.0, right.0)
      let (user, other) = (first.user.map(Int.init) ?? .max, second.user.map(Int.init) ?? .max)
      if user != other { return user < other }
      return (order.firstIndex(of: first.resource) ?? 0)
        < (order.firstIndex(of: second.resource) ?? 0)
    }
  }
}
