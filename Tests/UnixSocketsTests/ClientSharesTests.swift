import Testing
import UnixSockets

/// Tests which clients get a connection, a monitor or memory, and which connections are closed for
/// them.
struct ClientSharesTests {
  /// Limits of 8 connections, of which clients without rights get 6 and each of their users 3; 4
  /// monitors (3 and 2); and 400 bytes (300 and 200).
  static func shares(closesIdle: Bool = true) -> ClientShares {
    ClientShares(
      ClientShares.Limits(
        connections: .init(total: 8, perUser: 3), monitors: .init(total: 4, perUser: 2),
        bytes: .init(total: 400, perUser: 200), closesIdle: closesIdle))
  }

  private static func rows(_ counts: RefusalCounts) -> [String] {
    counts.rows.map { "\($0.row.user.map { "\($0)" } ?? "-") \($0.row.resource) \($0.count)" }
  }

  /// Connects this number of clients, all of them busy.
  private func connect(
    _ shares: inout ClientShares, _ count: Int, user: UInt32, as rank: ClientShares.Rank = .stranger
  ) -> [ClientShares.ID] {
    (0..<count).compactMap { _ in
      let (id, closing) = shares.connect(user: user, as: rank)
      #expect(closing.isEmpty)
      if let id { #expect(shares.update(id, bytes: 0, isIdle: false).isEmpty) }
      return id
    }
  }

  @Test
  func `each user without rights has a limit, and all of them together get three quarters`() {
    var shares = Self.shares()
    #expect(connect(&shares, 4, user: 1).count == 3)
    #expect(connect(&shares, 4, user: 2).count == 3)
    #expect(connect(&shares, 1, user: 3).isEmpty)
    #expect(connect(&shares, 3, user: 0, as: .owner).count == 2)
    #expect(shares.connections == 8)
    #expect(
      Self.rows(shares.refusals)
        == ["0 connection 1", "1 connection 1", "2 connection 1", "3 connection 1"])
  }

  @Test
  func `one member gets three quarters, all members together 15/16, and owners all connections`() {
    var shares = ClientShares(
      ClientShares.Limits(
        connections: .init(total: 64, perUser: 3), monitors: .init(total: 64, perUser: 2),
        bytes: .init(total: 6_400, perUser: 200), closesIdle: true))
    let most = connect(&shares, 64, user: 1, as: .member)
    #expect(most.count == 45)
    #expect(connect(&shares, 64, user: 2, as: .member).count == 15)
    #expect(connect(&shares, 1, user: 3).isEmpty)
    let root = connect(&shares, 64, user: 0, as: .owner)
    #expect(root.count == 4)
    let monitors = most.count { _ in shares.beginMonitor(most[0]) }
    #expect(monitors == 45)
    #expect(shares.beginMonitor(most[0]) == false)
    #expect(shares.beginMonitor(root[0]) == true)
    // If a user exceeds the limit, an older connection of the same user with unread replies is
    // closed.
    #expect(shares.update(most[0], bytes: 4_000, isIdle: false).isEmpty)
    #expect(shares.update(most[1], bytes: 1_000, isIdle: false) == [most[0]])
    #expect(shares.update(root[0], bytes: 6_000, isIdle: false) == [most[1]])
  }

  @Test func `a connection that ends releases its share`() throws {
    var shares = Self.shares()
    let first = try #require(connect(&shares, 3, user: 1).first)
    #expect(shares.beginMonitor(first) == true)
    _ = shares.update(first, bytes: 50, isIdle: false)
    shares.disconnect(first)
    shares.disconnect(first)
    #expect((shares.connections, shares.monitors, shares.bytes) == (2, 0, 0))
    #expect(connect(&shares, 1, user: 1).count == 1)
  }

  @Test func `if a connection limit is reached, the longest idle connection is closed`() throws {
    var shares = Self.shares()
    let ids = connect(&shares, 3, user: 1)
    for id in [ids[1], ids[0]] { _ = shares.update(id, bytes: 0, isIdle: true) }
    let (fourth, closing) = shares.connect(user: 1, as: .stranger)
    #expect(fourth != nil)
    #expect(closing == [ids[1]])
    #expect(shares.connections == 3)
    #expect(Self.rows(shares.refusals) == ["1 idleConnection 1"])
  }

  @Test
  func `idle clients of the user without rights who has the most connections are closed first`() {
    var shares = Self.shares()
    let root = (0..<3).compactMap { _ in shares.connect(user: 0, as: .owner).id }
    let single = shares.connect(user: 1, as: .stranger).id
    let several = (0..<3).compactMap { _ in shares.connect(user: 2, as: .stranger).id }
    let last = shares.connect(user: 3, as: .stranger).id
    #expect(shares.connect(user: 0, as: .owner).closing == [several[0]])
    #expect(shares.connect(user: 0, as: .owner).closing == [several[1]])
    #expect(shares.connect(user: 0, as: .owner).closing == [single])
    #expect(shares.connect(user: 0, as: .owner).closing == [several[2]])
    #expect(shares.connect(user: 0, as: .owner).closing == [last])
    #expect(shares.connect(user: 0, as: .owner).closing == [root[0]])
  }

  @Test func `idle connections are not closed if senders may be silent`() {
    var shares = Self.shares(closesIdle: false)
    for _ in 0..<3 { #expect(shares.connect(user: 1, as: .stranger).id != nil) }
    let (id, closing) = shares.connect(user: 1, as: .stranger)
    #expect(id == nil && closing.isEmpty)
  }

  @Test func `the number of monitors is limited per user and in total`() {
    var shares = Self.shares()
    let (one, two) = (connect(&shares, 3, user: 1), connect(&shares, 2, user: 2))
    let root = connect(&shares, 2, user: 0, as: .owner)
    #expect(one.map { shares.beginMonitor($0) } == [true, true, false])
    #expect(two.map { shares.beginMonitor($0) } == [true, false])
    #expect(root.map { shares.beginMonitor($0) } == [true, false])
    shares.endMonitor(two[0])
    #expect(shares.beginMonitor(root[1]) == true)
    #expect(shares.monitors == 4)
    #expect(Self.rows(shares.refusals) == ["0 monitor 1", "1 monitor 1", "2 monitor 1"])
  }

  @Test
  func `the connection that has held memory the longest is closed, clients without rights first`() {
    var shares = Self.shares()
    let (one, two) = (connect(&shares, 3, user: 1), connect(&shares, 2, user: 2))
    let root = connect(&shares, 2, user: 0, as: .owner)
    #expect(shares.update(one[1], bytes: 80, isIdle: false).isEmpty)
    #expect(shares.update(one[0], bytes: 80, isIdle: false).isEmpty)
    // This exceeds the limit of user 1.
    #expect(shares.update(one[2], bytes: 60, isIdle: false) == [one[1]])
    // This exceeds the limit of all clients without rights.
    #expect(shares.update(two[0], bytes: 170, isIdle: false) == [one[0]])
    #expect(shares.bytes == 230)
    #expect(shares.update(root[0], bytes: 150, isIdle: false).isEmpty)
    #expect(shares.update(root[1], bytes: 150, isIdle: false) == [one[2], two[0]])
    #expect(shares.bytes == 300)
    #expect(Self.rows(shares.refusals) == ["1 memory 3", "2 memory 1"])
  }

  @Test func `a single reply may exceed all limits of memory and closes only as much as necessary`()
  {
    var shares = Self.shares()
    let ids = connect(&shares, 2, user: 1)
    #expect(shares.update(ids[0], bytes: 5_000, isIdle: false).isEmpty)
    #expect(shares.update(ids[1], bytes: 1, isIdle: false) == [ids[0]])
    #expect(shares.update(ids[1], bytes: 0, isIdle: true).isEmpty)
    #expect(shares.bytes == 0)
  }

  @Test func `refusals are counted for a limited number of users`() {
    var counts = RefusalCounts()
    for user in 0..<1000 as Range<UInt32> { counts.add(.connection, user: user) }
    counts.add(.monitor, user: 3)
    #expect(counts.rows.count == RefusalCounts.maximumUsers + 2)
    #expect(counts.rows.last?.row == .init(user: nil, resource: .connection))
    #expect(counts.rows.last?.count == 1000 - RefusalCounts.maximumUsers)
    #expect(counts.total == 1001)
    let earlier = counts
    counts.add(.monitor, user: 3, count: 2)
    #expect(counts.since(earlier).map(\.count) == [2])
  }
}
