/// Who holds how much of what a server has: connections, calls with `more`, and bytes of memory.
///
/// There is a limit for all clients, another for all of those without rights, so that a reserve remains for
/// those with rights, and one for all but the owners; each user who is no owner has a share. An idle connection gives way
/// to a new one, and the connection that has held memory the longest to one that needs some. A value
/// without channel, clock or lock.
package struct ClientShares: Sendable {
  /// What a client may use.
  package enum Rank: Sendable {
    /// Without rights: a share of three quarters of what there is.
    case stranger
    /// With rights: three quarters of all but the last sixteenth.
    case member
    /// All that there is.
    case owner
  }

  /// Of one resource.
  package struct Limit: Sendable, Equatable {
    /// All clients together.
    package var total: Int
    /// One user without rights.
    package var perUser: Int

    package init(total: Int, perUser: Int) {
      self.total = total
      self.perUser = perUser
    }

    /// All clients without rights together; the rest is the reserve of the others.
    var withoutRights: Int { total - total / 4 }
    /// All but the owners together; the rest is the reserve of these.
    var withoutReserve: Int { total - total / 16 }
    /// One user with rights, so that not even such a one keeps all others out.
    var perMember: Int { withoutReserve - withoutReserve / 4 }
  }

  package struct Limits: Sendable, Equatable {
    package var connections: Limit
    package var monitors: Limit
    /// Bytes of unfinished calls, and of replies that were not read yet.
    package var bytes: Limit
    /// Whether a connection on which nothing happens may be closed for another.
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
    /// Since when it has held bytes, as the number of an event.
    var holdsSince: ID = 0
    var isIdle = true
    /// Since when it is idle, as the number of an event.
    var idleSince: ID
  }

  /// The clients that one limit is for.
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

  /// How much of one resource is in use.
  private struct Usage {
    let limit: Limit
    var total = 0
    var withoutRights = 0
    var withoutReserve = 0
    /// Of all but the owners.
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

    /// The smallest group of a client that would use more than its limit.
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
  /// Counts what happens, to tell what was earlier.
  private var events: ID = 0
  /// What was refused or taken back.
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

  /// Enters a connection, which is idle at first.
  ///
  /// - Parameter user: `nil` if it is not known; all such clients count as one user.
  /// - Returns: Its number, `nil` if it is refused; and the idle connections to close for it, which are
  ///   no longer entered.
  /// - Complexity: O(1); O(connections) once one of the limits is reached.
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

  /// The connection is closed, and its last call has ended. Without effect if it is not entered.
  package mutating func disconnect(_ id: ID) {
    guard let client = clients.removeValue(forKey: id) else { return }
    connectionUsage.add(-1, by: client)
    monitorUsage.add(-client.monitors, by: client)
    byteUsage.add(-client.bytes, by: client)
  }

  /// The longest idle connection of the user who has the most connections, those without rights first.
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

  /// Begins a call with `more`; `false` if it is refused.
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

  /// Notes what a connection holds, and whether nothing is going on.
  ///
  /// - Returns: The connections to close, because others need the memory that they hold. They count as
  ///   holding nothing from now on.
  /// - Complexity: O(1); O(connections) beyond a limit.
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
    // A single reply may exceed all limits: it does not make way for itself.
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

  /// The connection that has held bytes the longest, those without rights first.
  private func holder(among group: Group, otherThan id: ID) -> ID? {
    func order(_ client: Client) -> (Int, ID) {
      (client.rank == .stranger ? 0 : 1, client.holdsSince)
    }
    return clients.filter { $0.key != id && $0.value.bytes > 0 && group.contains($0.value) }
      .min { order($0.value) < order($1.value) }?.key
  }

  /// Counts something else that a client was refused.
  package mutating func refuse(_ resource: RefusedResource, to id: ID) {
    refusals.add(resource, user: clients[id]?.user)
  }
}
