import Gateway
import JSON
import LiveEvents
import Locking
import RateLimiting
import SystemSupport
import Testing

/// Nodes that share one bucket. A stopped node does nothing. A node that is cut off neither sends
/// nor receives messages. A deaf node receives no messages of other nodes, but its writes are
/// answered. Answers may be late.
private struct Cluster {
  var now = Instant.origin
  var bucket = Bucket()
  var nodes: [String: LeaseKeeper] = [:]
  var stopped: Set<String> = []
  var cutOff: Set<String> = []
  var deaf: Set<String> = []
  var delays: [String: Interval] = [:]
  var late: [(due: Instant, name: String, request: Int, sequence: UInt64?)] = []
  /// The epochs of each partition, in the order in which leases began.
  var epochs: [Partition: [UInt64]] = [:]
  var takenNames: Set<String> = []

  mutating func start(_ name: String, instance: String? = nil, as node: String? = nil) {
    var keeper = LeaseKeeper(
      .init(node: node ?? name, instance: instance ?? name, address: "\(name)/socket"))
    for (key, entry) in bucket.entries where now - entry.written < bucket.age {
      _ = keeper.observed(
        key: key, value: entry.value, sequence: entry.sequence, written: Bucket.time(entry.written),
        at: now)
    }
    keeper.becameCurrent(at: now)
    nodes[name] = keeper
  }

  mutating func run(seconds: Double) {
    for _ in 0..<Int(seconds * 4) {
      now = now + .milliseconds(250)
      for answer in late.filter({ $0.due <= now }) {
        perform(
          nodes[answer.name]!.answered(answer.request, sequence: answer.sequence, at: now),
          of: answer.name)
      }
      late.removeAll { $0.due <= now }
      for name in nodes.keys.sorted() where !stopped.contains(name) {
        perform(nodes[name]!.tick(at: now), of: name)
      }
    }
  }

  mutating func perform(_ actions: [LeaseKeeper.Action], of name: String) {
    for action in actions {
      switch action {
      case .put(let key, let value, let expected, let request):
        if cutOff.contains(name) { continue }
        let sequence = bucket.write(key, value, expected: expected, at: now)
        if let delay = delays[name] {
          late.append((now + delay, name, request, sequence))
        } else {
          perform(nodes[name]!.answered(request, sequence: sequence, at: now), of: name)
        }
        if let sequence { deliver(key, value, sequence) }
      case .delete(let key, let expected):
        if cutOff.contains(name) { continue }
        guard
          let sequence = bucket.write(
            key, nil, expected: expected == 0 ? nil : expected, at: now)
        else { continue }
        deliver(key, nil, sequence)
      case .began(let partition, let epoch): epochs[partition, default: []].append(epoch)
      case .ended: break
      case .nameTaken: takenNames.insert(name)
      }
    }
  }

  mutating func deliver(
    _ key: String, _ value: JSONValue?, _ sequence: UInt64, written: Instant? = nil
  ) {
    for name in nodes.keys.sorted()
    where !stopped.contains(name) && !cutOff.contains(name) && !deaf.contains(name) {
      let actions = nodes[name]!.observed(
        key: key, value: value, sequence: sequence, written: Bucket.time(written ?? now), at: now)
      perform(actions, of: name)
    }
  }

  /// Makes a node announce an entry to the others.
  mutating func ask(_ name: String, _ key: String, _ value: JSONValue) {
    let sequence = bucket.write(key, value, expected: nil, at: now)!
    nodes[name]!.announce(key, value, sequence: sequence, at: now)
    deliver(key, value, sequence)
  }

  /// The running nodes that believe they own a partition.
  func owners(of partition: Partition) -> [String] {
    nodes.keys.sorted().filter {
      !stopped.contains($0) && nodes[$0]!.partitions.contains(partition)
    }
  }

  func count(_ name: String) -> Int { nodes[name]!.partitions.count }
}

@Suite(.timeLimit(.minutes(1)))
struct LeaseTests {
  @Test func `a node that runs alone acquires every partition`() {
    var cluster = Cluster()
    cluster.start("a")
    cluster.run(seconds: 3)
    #expect(cluster.count("a") == Partition.count)
    #expect(cluster.nodes["a"]?.owner(of: Partition(number: 7))?.address == "a/socket")
  }

  @Test func `three nodes share the partitions, and each partition has one owner`() {
    var cluster = Cluster()
    for name in ["a", "b", "c"] { cluster.start(name) }
    cluster.run(seconds: 10)
    #expect(Partition.all.allSatisfy { cluster.owners(of: $0).count == 1 })
    #expect(["a", "b", "c"].allSatisfy { (20...22).contains(cluster.count($0)) })
  }

  @Test func `a node that starts later gets its share of the partitions`() {
    var cluster = Cluster()
    cluster.start("a")
    cluster.run(seconds: 3)
    cluster.start("b")
    cluster.run(seconds: 6)
    #expect(cluster.count("a") == 32)
    #expect(cluster.count("b") == 32)
  }

  @Test func `the partitions of a crashed node have new owners within five seconds`() {
    var cluster = Cluster()
    for name in ["a", "b", "c"] { cluster.start(name) }
    cluster.run(seconds: 10)
    cluster.stopped = ["b"]
    cluster.run(seconds: 5)
    #expect(Partition.all.allSatisfy { cluster.owners(of: $0).count == 1 })
  }

  @Test func `the partitions of a draining node have new owners within two seconds`() {
    var cluster = Cluster()
    for name in ["a", "b"] { cluster.start(name) }
    cluster.run(seconds: 10)
    cluster.perform(cluster.nodes["b"]!.drain(.ending), of: "b")
    #expect(cluster.count("b") == 0)
    cluster.run(seconds: 2)
    #expect(cluster.count("a") == Partition.count)
    cluster.run(seconds: 5)
    #expect(cluster.count("b") == 0)
  }

  /// Without the release, the node's leases would expire only after three seconds.
  @Test
  func `the partitions of a node that drains during renewals have new owners within two seconds`()
    throws
  {
    var cluster = Cluster()
    for name in ["a", "b"] { cluster.start(name) }
    cluster.run(seconds: 10)
    cluster.delays["b"] = .milliseconds(500)
    let isRenewing = { (cluster: Cluster) in cluster.late.count > 10 }
    for _ in 0..<8 where !isRenewing(cluster) { cluster.run(seconds: 0.25) }
    try #require(isRenewing(cluster))
    cluster.perform(cluster.nodes["b"]!.drain(.ending), of: "b")
    #expect(cluster.nodes["b"]!.isGivingUp)
    cluster.run(seconds: 2)
    #expect(!cluster.nodes["b"]!.isGivingUp)
    #expect(cluster.count("a") == Partition.count)
  }

  @Test func `a partition counts as loading until its owner announces that the rooms are loaded`() {
    var cluster = Cluster()
    for name in ["a", "b"] { cluster.start(name) }
    cluster.run(seconds: 10)
    let partition = cluster.nodes["a"]!.partitions.min()!
    let isLoading = { (cluster: Cluster) in
      ["a", "b"].map { cluster.nodes[$0]!.isLoading(partition, at: cluster.now) }
    }
    #expect(isLoading(cluster) == [true, true])
    cluster.nodes["a"]!.mark(partition, isLoading: false)
    cluster.run(seconds: 0.25)
    #expect(isLoading(cluster) == [false, false])
    cluster.run(seconds: 5)
    #expect(isLoading(cluster) == [false, false])
    cluster.nodes["a"]!.mark(partition, isLoading: true)
    cluster.run(seconds: 0.25)
    #expect(isLoading(cluster) == [true, true])
    cluster.nodes["a"]!.mark(partition, isLoading: false)
    cluster.run(seconds: 0.25)
    // The partition counts as loading as soon as its owner gives it up.
    cluster.perform(cluster.nodes["a"]!.drain(.administrator), of: "a")
    #expect(isLoading(cluster) == [true, true])
    cluster.run(seconds: 2)
    #expect(isLoading(cluster) == [true, true])
    // Calls do not wait for a partition whose owner is gone.
    cluster.stopped = ["b"]
    cluster.run(seconds: 4)
    #expect(!cluster.nodes["a"]!.isLoading(partition, at: cluster.now))
  }

  @Test func `calls wait for rooms that are loading, for at most five seconds`() {
    var cluster = Cluster()
    cluster.start("a")
    cluster.run(seconds: 3)
    let directory = NodeDirectory(node: "a", control: "")
    let isLoading = { (cluster: Cluster) in
      directory.update(cluster.nodes["a"]!, status: nil, at: cluster.now)
      return [directory.isLoading("main"), directory.isLoading("other"), directory.isLoading(nil)]
    }
    #expect(isLoading(cluster) == [true, true, true])
    let main = Partition(of: RoomName("main")!)
    cluster.nodes["a"]!.mark(main, isLoading: false)
    #expect(isLoading(cluster) == [false, true, true])
    cluster.run(seconds: 4)
    #expect(isLoading(cluster) == [false, true, true])
    cluster.run(seconds: 1)
    #expect(isLoading(cluster) == [false, false, false])
    // Calls wait again each time the partition is loaded.
    cluster.nodes["a"]!.mark(main, isLoading: true)
    #expect(isLoading(cluster) == [true, false, true])
  }

  @Test
  func `a node that loses its partitions whenever it has some retries after increasing pauses`() {
    var cluster = Cluster()
    cluster.start("a")
    var taken: [Int] = []
    for tick in 0..<400 {
      let isDrained = cluster.nodes["a"]!.isDraining
      cluster.delays["a"] = cluster.count("a") == 0 ? nil : .milliseconds(1_250)
      cluster.run(seconds: 0.25)
      if isDrained, !cluster.nodes["a"]!.isDraining { taken.append(tick) }
    }
    #expect((3...8).contains(taken.count))
    let pauses = zip(taken, taken.dropFirst()).map { $1 - $0 }
    #expect(pauses == pauses.sorted())
    #expect(pauses.last! > 2 * pauses.first!)
  }

  @Test func `a node that was stopped no longer owns partitions that other nodes have acquired`() {
    var cluster = Cluster()
    for name in ["a", "b"] { cluster.start(name) }
    cluster.run(seconds: 10)
    let before = cluster.nodes["b"]!.partitions
    cluster.stopped = ["b"]
    cluster.run(seconds: 6)
    cluster.stopped = []
    // The node's leases have expired by its own clock, before it hears from the servers.
    cluster.run(seconds: 0.25)
    #expect(!before.isEmpty)
    #expect(before.allSatisfy { !cluster.owners(of: $0).contains("b") })
    cluster.run(seconds: 10)
    #expect(Partition.all.allSatisfy { cluster.owners(of: $0).count == 1 })
  }

  @Test func `a node that is cut off ends its leases before others acquire them`() {
    var cluster = Cluster()
    for name in ["a", "b", "c"] { cluster.start(name) }
    cluster.run(seconds: 10)
    cluster.cutOff = ["b"]
    for _ in 0..<40 {
      cluster.run(seconds: 0.25)
      #expect(Partition.all.allSatisfy { cluster.owners(of: $0).count <= 1 })
    }
    #expect(cluster.count("b") == 0)
    #expect(Partition.all.allSatisfy { cluster.owners(of: $0).count == 1 })
  }

  @Test func `the epochs of a partition rise from owner to owner`() {
    var cluster = Cluster()
    for name in ["a", "b", "c"] { cluster.start(name) }
    for name in ["a", "b", "c", "a"] {
      cluster.run(seconds: 8)
      cluster.stopped = [name]
      cluster.run(seconds: 8)
      cluster.stopped = []
    }
    #expect(cluster.epochs.values.contains { $0.count > 2 })
    #expect(cluster.epochs.values.allSatisfy { $0 == $0.sorted() && Set($0).count == $0.count })
  }

  @Test func `a second gateway of the same name is detected`() {
    var cluster = Cluster()
    cluster.start("a")
    cluster.run(seconds: 3)
    cluster.start("other", as: "a")
    cluster.run(seconds: 3)
    #expect(!cluster.takenNames.isEmpty)
  }

  @Test
  func
    `repeated entries of an earlier run do not count as a second gateway`()
  {
    var cluster = Cluster()
    let earlier: JSONValue = ["instance": "earlier", "address": "a/socket"]
    cluster.deliver("n_a", earlier, 1)
    cluster.run(seconds: 3)
    cluster.start("a")
    cluster.run(seconds: 3)
    cluster.nodes["a"]!.lostSight()
    for second in 0..<3 {
      cluster.deliver(
        "n_a", earlier, 10 + UInt64(second), written: .origin + .seconds(Int64(second)))
    }
    #expect(cluster.takenNames.isEmpty)
    cluster.deliver("n_a", earlier, 13)
    #expect(cluster.takenNames.isEmpty)
    cluster.run(seconds: 1)
    cluster.deliver("n_a", earlier, 14)
    #expect(cluster.takenNames == ["a"])
  }

  @Test func `each partition has at most one owner after the servers lose all leases`() {
    var cluster = Cluster()
    for name in ["a", "b", "c"] { cluster.start(name) }
    cluster.run(seconds: 10)
    cluster.bucket = Bucket()
    for name in ["a", "b", "c"] {
      cluster.nodes[name]!.lostSight()
      cluster.nodes[name]!.becameCurrent(at: cluster.now)
    }
    for _ in 0..<40 {
      cluster.run(seconds: 0.25)
      #expect(Partition.all.allSatisfy { cluster.owners(of: $0).count <= 1 })
    }
    #expect(Partition.all.allSatisfy { cluster.owners(of: $0).count == 1 })
    cluster.stopped = ["b"]
    cluster.run(seconds: 6)
    #expect(Partition.all.allSatisfy { cluster.owners(of: $0).count == 1 })
    for partition in Partition.all {
      let owner = cluster.owners(of: partition)[0]
      #expect(cluster.nodes["a"]!.owner(of: partition)?.node == owner)
    }
  }

  @Test func `a node whose requests are not answered owns no partition`() {
    var cluster = Cluster()
    cluster.start("a")
    cluster.run(seconds: 3)
    cluster.cutOff = ["a"]
    cluster.run(seconds: 3)
    #expect(cluster.count("a") == 0)
    cluster.cutOff = []
    // The driver of the leases gives up unanswered requests after some time.
    cluster.nodes["a"]!.forgetRequests()
    cluster.run(seconds: 6)
    #expect(cluster.count("a") == Partition.count)
  }

  @Test func `a node that gets answers too late to renew leases acquires no lease`() {
    var cluster = Cluster()
    for name in ["a", "b", "c"] { cluster.start(name) }
    cluster.run(seconds: 10)
    cluster.delays["c"] = .milliseconds(1_250)
    cluster.run(seconds: 8)
    for _ in 0..<40 {
      cluster.run(seconds: 0.25)
      #expect(Partition.all.allSatisfy { cluster.owners(of: $0).count == 1 })
      #expect(cluster.count("c") == 0)
    }
    #expect(cluster.nodes["c"]!.drainReasons == [.slow])
    cluster.delays = [:]
    cluster.run(seconds: 10)
    #expect(Partition.all.allSatisfy { cluster.owners(of: $0).count == 1 })
    #expect((20...22).contains(cluster.count("c")))
  }

  @Test func `a node whose requests time out acquires no leases`() {
    var keeper = LeaseKeeper(.init(node: "a", instance: "a", address: ""))
    keeper.becameCurrent(at: .origin)
    var now = Instant.origin
    for _ in 0..<2 {
      #expect(keeper.drainReasons == [])
      for case .put(_, _, _, let request) in keeper.tick(at: now) {
        _ = keeper.failed(request, at: now + .seconds(2))
      }
      now = now + .seconds(2)
    }
    #expect(keeper.drainReasons == [.slow])
    #expect(keeper.isTiming)
    // A request that fails immediately does not show that the servers are slow.
    for case .put(_, _, _, let request) in keeper.tick(at: now) {
      _ = keeper.failed(request, at: now)
    }
    #expect(keeper.drainReasons == [.slow])
  }

  @Test func `a single late answer from a server does not cost a node its leases`() {
    var cluster = Cluster()
    for name in ["a", "b"] { cluster.start(name) }
    cluster.run(seconds: 10)
    let epochs = cluster.epochs
    cluster.delays["b"] = .milliseconds(900)
    cluster.run(seconds: 1)
    cluster.delays = [:]
    cluster.run(seconds: 5)
    #expect(cluster.epochs == epochs)
    #expect(cluster.nodes["b"]!.drainReasons == [])
  }

  @Test func `a node that is asked to drain acquires no partition until it is asked to resume`() {
    var cluster = Cluster()
    for name in ["a", "b"] { cluster.start(name) }
    cluster.run(seconds: 10)
    cluster.deliver(LeaseKeeper.drainKey(of: "b"), ["drain": true], cluster.bucket.sequence + 1)
    cluster.run(seconds: 10)
    #expect(cluster.count("a") == Partition.count)
    #expect(cluster.nodes["b"]!.drainReasons == [.administrator])
    // The node then has another reason to drain, for example because its daemon is not running.
    _ = cluster.nodes["b"]!.drain(.noDaemon)
    cluster.deliver(LeaseKeeper.drainKey(of: "b"), ["drain": false], cluster.bucket.sequence + 2)
    cluster.run(seconds: 5)
    #expect(cluster.count("b") == 0)
    cluster.nodes["b"]!.resume(.noDaemon)
    cluster.run(seconds: 10)
    #expect(cluster.count("b") == 32)
    #expect(Partition.all.allSatisfy { cluster.owners(of: $0).count == 1 })
  }

  @Test(arguments: ["owner", "target"])
  func `a move is announced again to nodes that missed it or did not know its target`(deaf: String)
  {
    var cluster = Cluster()
    for name in ["a", "b", "c"] { cluster.start(name) }
    cluster.run(seconds: 10)
    // The target already has its full share, so it acquires the partition only because of the move.
    let target = ["a", "b", "c"].max { cluster.count($0) < cluster.count($1) }!
    let owner = target == "a" ? "b" : "a"
    let partition = cluster.nodes[owner]!.partitions.min()!
    let name = deaf == "owner" ? owner : target
    cluster.deaf = [name]
    cluster.ask(
      target == "c" ? "b" : "c", LeaseKeeper.moveKey(of: partition),
      ["node": .string(target), "instance": .string(target)])
    cluster.run(seconds: 2.5)
    cluster.nodes[name]!.lostSight()
    cluster.run(seconds: 1.5)
    cluster.deaf = []
    // The announcement is older than most of the entries that name the nodes.
    for (key, entry) in cluster.bucket.entries.sorted(by: { $0.value.sequence < $1.value.sequence })
    where cluster.now - entry.written < cluster.bucket.age {
      let actions = cluster.nodes[name]!.observed(
        key: key, value: entry.value, sequence: entry.sequence,
        written: Bucket.time(entry.written), at: cluster.now)
      cluster.perform(actions, of: name)
    }
    cluster.nodes[name]!.becameCurrent(at: cluster.now)
    cluster.run(seconds: 5)
    #expect(cluster.owners(of: partition) == [target])
    #expect(Partition.all.allSatisfy { cluster.owners(of: $0).count == 1 })
  }

  @Test func `an announcement is repeated for a limited time, and never after a newer one`() {
    var cluster = Cluster()
    for name in ["a", "b", "c"] { cluster.start(name) }
    cluster.run(seconds: 10)
    let key = LeaseKeeper.drainKey(of: "c")
    // The node that was asked first is not informed that its announcement is out of date.
    cluster.deaf = ["a"]
    cluster.ask("a", key, ["drain": true, "instance": "c"])
    cluster.run(seconds: 2)
    #expect(cluster.nodes["c"]!.isDraining)
    cluster.ask("b", key, ["drain": false])
    for _ in 0..<80 {
      cluster.run(seconds: 0.25)
      #expect(!cluster.nodes["c"]!.isDraining)
    }
    let written = cluster.bucket.entries[key]!.written
    #expect(cluster.now - written >= cluster.bucket.age)
    // An announcement for an earlier run does not drain another run.
    cluster.start("d", instance: "another run", as: "c")
    cluster.ask("b", key, ["drain": true, "instance": "c"])
    #expect(!cluster.nodes["d"]!.isDraining)
  }

  @Test func `a node keeps the partitions that were moved to it, even beyond its share`() {
    var cluster = Cluster()
    for name in ["a", "b", "c"] { cluster.start(name) }
    cluster.run(seconds: 10)
    let moved = Partition.all.prefix(40)
    for partition in moved {
      cluster.ask("a", LeaseKeeper.moveKey(of: partition), ["node": "b", "instance": "b"])
    }
    cluster.run(seconds: 20)
    let epochs = cluster.epochs
    cluster.run(seconds: 10)
    #expect(cluster.epochs == epochs)
    #expect(moved.allSatisfy { cluster.owners(of: $0) == ["b"] })
    #expect(cluster.count("a") + cluster.count("c") == Partition.count - moved.count)
  }

  @Test
  func `a node that owns no partition is known to the others and can be resumed from any node`() {
    var cluster = Cluster()
    for name in ["a", "b"] { cluster.start(name) }
    cluster.run(seconds: 10)
    cluster.ask("a", LeaseKeeper.drainKey(of: "b"), ["drain": true])
    cluster.run(seconds: 30)
    #expect(cluster.count("b") == 0)
    #expect(cluster.nodes["a"]!.liveNodes(at: cluster.now).keys.sorted() == ["a"])
    #expect(cluster.nodes["a"]!.idleNodes(at: cluster.now) == ["b": "b/socket"])
    #expect(cluster.nodes["a"]!.instance(of: "b") == "b")
    // The announcement names this run of the node, so a later run would ignore it.
    let instance = cluster.nodes["a"]!.instance(of: "b")!
    cluster.ask(
      "a", LeaseKeeper.drainKey(of: "b"), ["drain": false, "instance": .string(instance)])
    cluster.run(seconds: 10)
    #expect(cluster.count("b") == 32)
    #expect(cluster.nodes["a"]!.idleNodes(at: cluster.now).isEmpty)
    cluster.stopped = ["b"]
    cluster.run(seconds: 5)
    #expect(cluster.nodes["a"]!.idleNodes(at: cluster.now).isEmpty)
  }

  @Test func `the node directory reports the partitions whose owner has changed`() {
    var cluster = Cluster()
    for name in ["a", "b"] { cluster.start(name) }
    let directory = NodeDirectory(node: "a", control: "")
    let moved = Guarded<Set<Partition>>([])
    directory.onMove { partitions in moved.withLock { $0.formUnion(partitions) } }
    let update = { (cluster: Cluster) in
      directory.update(cluster.nodes["a"]!, status: nil, at: cluster.now)
    }
    update(cluster)
    #expect(moved.withLock { $0 }.isEmpty)
    #expect(directory.isLoading(nil))
    cluster.run(seconds: 10)
    update(cluster)
    // So far, this node has answered for the rooms of the other node.
    #expect(moved.withLock { $0 } == cluster.nodes["b"]!.partitions)
    moved.withLock { $0 = [] }
    // The former owners remain in the directory until the new owners are known.
    cluster.nodes["a"]!.lostSight()
    update(cluster)
    #expect(moved.withLock { $0 }.isEmpty)
    cluster.nodes["a"]!.becameCurrent(at: cluster.now)
    cluster.run(seconds: 2)
    let before = cluster.nodes["a"]!.partitions
    let partition = before.min()!
    cluster.ask("a", LeaseKeeper.moveKey(of: partition), ["node": "b", "instance": "b"])
    for _ in 0..<20 {
      cluster.run(seconds: 0.25)
      update(cluster)
    }
    let after = cluster.nodes["a"]!.partitions
    #expect(after.isDisjoint(with: [partition]))
    // The moved partitions include those that the other node gave up in exchange.
    #expect(moved.withLock { $0 } == before.symmetricDifference(after))
    update(cluster)
    #expect(moved.withLock { $0 } == before.symmetricDifference(after))
  }

  @Test func `a partition that was moved to a node stays there, and the node gives up others`() {
    var cluster = Cluster()
    for name in ["a", "b", "c"] { cluster.start(name) }
    cluster.run(seconds: 10)
    let moved = cluster.nodes["a"]!.partitions.sorted().prefix(3)
    for partition in moved {
      cluster.deliver(
        LeaseKeeper.moveKey(of: partition), ["node": "b"],
        cluster.bucket.sequence + 1 + UInt64(partition.number))
    }
    for _ in 0..<40 {
      cluster.run(seconds: 0.5)
      #expect(Partition.all.allSatisfy { cluster.owners(of: $0).count <= 1 })
    }
    #expect(moved.allSatisfy { cluster.owners(of: $0) == ["b"] })
    #expect(Partition.all.allSatisfy { cluster.owners(of: $0).count == 1 })
    #expect(["a", "b", "c"].allSatisfy { (20...22).contains(cluster.count($0)) })
    // Other nodes own the partition while its node is stopped, and do not wait for a later run of
    // the node.
    cluster.stopped = ["b"]
    cluster.run(seconds: 8)
    #expect(Partition.all.allSatisfy { cluster.owners(of: $0).count == 1 })
    cluster.stopped = []
    cluster.start("b", instance: "another run")
    cluster.run(seconds: 10)
    cluster.stopped = ["c"]
    cluster.run(seconds: 8)
    #expect(Partition.all.allSatisfy { cluster.owners(of: $0).count == 1 })
  }
}
