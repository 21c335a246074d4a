/// What a server has refused to its clients or taken back from them.
package enum RefusedResource: String, Codable, Sendable, CaseIterable {
  /// A connection beyond what there is.
  case connection
  /// A connection to the ingest socket beyond what there is.
  case ingestConnection
  /// A connection to the ingest socket, by a user who may not send.
  case ingestPermission
  /// An idle connection, closed for another.
  case idleConnection
  /// A call with `more` beyond what there is.
  case monitor
  /// A call that is longer than its user may send.
  case callLength
  /// A call of which the end did not come in time.
  case unfinishedCall
  /// Memory that others needed: the connection was closed.
  case memory
}

/// How often users were refused something. Users beyond ``maximumUsers`` are counted together.
package struct RefusalCounts: Sendable, Equatable {
  /// One row: a user and a resource.
  package struct Row: Sendable, Hashable {
    /// `nil` for all users who are not counted on their own.
    package let user: UInt32?
    package let resource: RefusedResource

    package init(user: UInt32?, resource: RefusedResource) {
      self.user = user
      self.resource = resource
    }
  }

  /// How many users are counted on their own: strangers may have any number of users.
  package static let maximumUsers = 64

  private var users: Set<UInt32> = []
  private var counts: [Row: Int] = [:]
  /// Grows with each refusal.
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

  /// The refusals that `earlier`, a former value of this, does not have.
  package func since(_ earlier: RefusalCounts) -> [(row: Row, count: Int)] {
    rows.compactMap { row, count in
      let new = count - (earlier.counts[row] ?? 0)
      return new > 0 ? (row, new) : nil
    }
  }

  /// All rows, in the order of users and then of resources; those counted together are last.
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
