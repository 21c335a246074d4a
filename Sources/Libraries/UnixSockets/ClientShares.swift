/// Distributes the resources of a server among its clients: connections, calls with `more`, and
/// bytes of memory.
///
/// Three limits apply to groups: all clients, all clients except owners, and all clients without
/// rights. Each is lower than the limit before it, so that a part of each resource stays reserved
/// for the others. In addition, each user who is not an owner has a limit. If a limit is reached,
/// an idle connection is closed in favour of a new one, and the connection that has held memory the
/// longest is closed in favour of a connection that needs memory. A value without channel, clock or
/// lock.
package struct ClientShares: Sendable {
  /// The share of the resources that a client may use.
  package enum Rank: Sendable {
    /// A client without rights: its limit is per user, and all such clients together may use three
    /// quarters of the total.
    case stranger
    /// A client with rights: its user may use three quarters of what remains of the total after a
    /// sixteenth is reserved for owners.
    case member
    /// An owner: the total.
    case owner
  }

  /// The limits of one resource.
  package struct Limit: Sendable, Equatable {
    /// The limit of all clients together.
    package var total: Int
    /// The limit of one user without rights.
    package var perUser: Int

    package init(total: Int, perUser: Int) {
      self.total = total
      self.perUser = perUser
    }

    /// The limit of all clients without rights together. The rest is reserved for other clients.
    var withoutRights: Int { total - total / 4 }
    /// The limit of all clients except owners together. The rest is reserved for owners.
    var withoutReserve: Int { total - total / 16 }
    /// The limit of one user with rights, so that no such user can exclude all others.
    var perMember: Int { withoutReserve - withoutReserve / 4 }
  }

  package struct Limits: Sendable, Equatable {
    package var connections: Limit
    package var monitors: Limit
    /// The bytes of unfinished calls and of replies that have not been read yet.
    package var bytes: Limit
    /// Whether an idle connection may be closed in favour of another.
    package var closesIdle: Bool

    package init(connections: Limit, monitors: Limit, bytes: Limit, closesIdle: Bool) {
      self.connections = connections
      self.monitors = monitors
      self.bytes = bytes
      self.closesIdle = closesIdle
    }
  }

  package typealias ID = UInt64

  private struct Client {
    let user: UInt32?
    let rank: Rank
    var monitors = 0
    var bytes = 0
    /// The event number at which the client began to hold bytes.
    var holdsSince: ID = 0
    var isIdle = true
    /// The event number at which the client became idle.
    var idleSince: ID
  }

  private enum Group {
    case user(UInt32?), withoutRights, withoutReserve, all

    func contains(_ client: Client) -> Bool {
      switch self {
      case .user(let user): client.rank != .owner && client.user == user
      case .withoutRights: client.rank == .stranger
      case .withoutReserve: client.rank != .owner
      case .all: true
      }
    }
  }

  private struct Usage {
    let limit: Limit
    var total = 0
    var withoutRights = 0
    var withoutReserve = 0
    /// The use by each user who is not an owner.
    var byUser: [UInt32?: Int] = [:]

    init(_ limit: Limit) { self.limit = limit }

    mutating func add(_ amount: Int, by client: Client) {
      total += amount
      guard client.rank != .owner else { return }
      withoutReserve += amount
      if client.rank == .stranger { withoutRights += amount }
      let own = byUser[client.user, default: 0] + amount
      byUser[client.user] = own == 0 ? nil : own
    }

    /// Returns the smallest of the groups to which a client belongs whose limit would be exceeded,
    /// or nil if there is none.
    func group(of client: Client, exceedingWith amount: Int) -> Group? {
      if client.rank != .owner {
        let share = client.rank == .stranger ? limit.perUser : limit.perMember
        if byUser[client.user, default: 0] + amount > share { return .user(client.user) }
        if client.rank == .stranger, withoutRights + amount > limit.withoutRights {
          return .withoutRights
        }
        if withoutReserve + amount > limit.withoutReserve { return .withoutReserve }
      }
      return total + amount > limit.total ? .all : nil
    }
  }

  private let closesIdle: Bool
  private var connectionUsage: Usage
  private var monitorUsage: Usage
  private var byteUsage: Usage
  private var clients: [ID: Client] = [:]
  /// Counts events, so that a number shows which of two events was earlier.
  private var events: ID = 0
  /// The resources that were refused or withdrawn.
  package private(set) var refusals = RefusalCounts()

  package init(_ limits: Limits) {
    closesIdle = limits.closesIdle
    connectionUsage = Usage(limits.connections)
    monitorUsage = Usage(limits.monitors)
    byteUsage = Usage(limits.bytes)
  }

  /// The number of connections.
  package var connections: Int { connectionUsage.total }
  /// The number of calls with `more` in progress.
  package var monitors: Int { monitorUsage.total }
  /// The bytes held for all connections.
  package var bytes: Int { byteUsage.total }

  // MARK: Connections

  /// Registers a connection, which is initially idle.
  ///
  /// - Parameter user: The user, or `nil` if unknown. All unknown users count as one user.
  /// - Returns: The number of the connection, or `nil` if it is refused; and the idle connections
  ///   to close in favour of it, which are no longer registered.
  /// - Complexity: O(1). O(n) in the number of connections once a limit is reached.
  package mutating func connect(
    user: UInt32?, as rank: Rank
  ) -> (id: ID?, closing: [ID]) {
    events += 1
    let client = Client(user: user, rank: rank, idleSince: events)
    let id = events
    var closing: [ID] = []
    while let full = connectionUsage.group(of: client, exceedingWith: 1) {
      guard let victim = idle(among: full) else {
        refusals.add(.connection, user: user)
        return (nil, closing)
      }
      refusals.add(.idleConnection, user: clients[victim]?.user)
      disconnect(victim)
      closing.append(victim)
    }
    clients[id] = client
    connectionUsage.add(1, by: client)
    return (id, closing)
  }

  /// Removes a connection that is closed and whose last call has ended, if registered.
  package mutating func disconnect(_ id: ID) {
    guard let client = clients.removeValue(forKey: id) else { return }
    connectionUsage.add(-1, by: client)
    monitorUsage.add(-client.monitors, by: client)
    byteUsage.add(-client.bytes, by: client)
  }

  /// Returns the idle connection to close. Users without rights are chosen first, starting with the
  /// user who has the most connections; of several candidates, the connection that has been idle
  /// the longest is chosen.
  private func idle(among group: Group) -> ID? {
    guard closesIdle else { return nil }
    let idle = clients.filter { $0.value.isIdle && group.contains($0.value) }
    func order(_ client: Client) -> (Int, ID) {
      let count = client.rank == .stranger ? connectionUsage.byUser[client.user, default: 0] : 0
      return (count, .max - client.idleSince)
    }
    return idle.max { order($0.value) < order($1.value) }?.key
  }

  // MARK: Calls with `more`

  /// Begins a call with `more`. Returns `false` if the call is refused.
  package mutating func beginMonitor(_ id: ID) -> Bool {
    guard var client = clients[id] else { return false }
    guard monitorUsage.group(of: client, exceedingWith: 1) == nil else {
      refusals.add(.monitor, user: client.user)
      return false
    }
    client.monitors += 1
    clients[id] = client
    monitorUsage.add(1, by: client)
    return true
  }

  package mutating func endMonitor(_ id: ID) {
    guard var client = clients[id] else { return }
    client.monitors -= 1
    clients[id] = client
    monitorUsage.add(-1, by: client)
  }

  // MARK: Memory

  /// Updates the number of bytes that a connection holds, and whether it is idle.
  ///
  /// - Returns: The connections to close because others need their memory; these connections then
  ///   count as holding nothing.
  /// - Complexity: O(1). O(n) in the number of connections if a limit is exceeded.
  package mutating func update(_ id: ID, bytes: Int, isIdle: Bool) -> [ID] {
    guard var client = clients[id] else { return [] }
    if client.bytes == 0, bytes > 0 {
      events += 1
      client.holdsSince = events
    }
    if isIdle, !client.isIdle {
      events += 1
      client.idleSince = events
    }
    let growth = bytes - client.bytes
    (client.bytes, client.isIdle) = (bytes, isIdle)
    clients[id] = client
    byteUsage.add(growth, by: client)
    var closing: [ID] = []
    // A single reply may exceed all limits; the connection that it is for is not closed for that
    // reason.
    while growth > 0, let full = byteUsage.group(of: client, exceedingWith: 0),
      let victim = holder(among: full, otherThan: id)
    {
      refusals.add(.memory, user: clients[victim]?.user)
      release(victim)
      closing.append(victim)
    }
    return closing
  }

  private mutating func release(_ id: ID) {
    guard var client = clients[id] else { return }
    byteUsage.add(-client.bytes, by: client)
    client.bytes = 0
    clients[id] = client
  }

  /// Returns the connection that has held bytes the longest. Connections without rights come first.
  private func holder(among group: Group, otherThan id: ID) -> ID? {
    func order(_ client: Client) -> (Int, ID) {
      (client.rank == .stranger ? 0 : 1, client.holdsSince)
    }
    return clients.filter { $0.key != id && $0.value.bytes > 0 && group.contains($0.value) }
      .min { order($0.value) < order($1.value) }?.key
  }

  /// Counts another refusal to a client.
  package mutating func refuse(_ resource: RefusedResource, to id: ID) {
    refusals.add(resource, user: clients[id]?.user)
  }
}
