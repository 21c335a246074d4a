package import JSON
package import RateLimiting

/// Decides which partitions' leases this node acquires, renews and gives up, and knows the owners
/// of the other partitions.
///
/// A lease is an entry of the bucket `lh_lease`, which the servers forget after
/// ``Settings/duration``. A node acquires a lease by writing a missing entry. A node renews a lease
/// by writing the entry again, which succeeds only if no other node has written the entry since. A
/// node that has not renewed a lease for two thirds of the duration, by its own monotonic clock,
/// treats it as lost. The node therefore stops before another node can acquire the lease. A value
/// type: the caller passes the time and carries out the actions.
package struct LeaseKeeper: Sendable {
  package struct Settings: Sendable {
    /// The name of this node, unique in the cluster.
    package var node: String
    /// Identifies this run of the node.
    package var instance: String
    /// The address at which other nodes reach this node's control interface.
    package var address: String
    package var duration = Interval.seconds(3)
    package var renewal = Interval.seconds(1)
    /// How long an announcement is repeated. A node whose server fails notices this only after one
    /// ``duration``, and may need several attempts to reach another server.
    package var announcementLifetime = Interval.seconds(15)

    package init(node: String, instance: String, address: String) {
      (self.node, self.instance, self.address) = (node, instance, address)
    }

    /// The age at which a lease that was not renewed counts as lost.
    var lost: Interval { Interval(nanoseconds: duration.nanoseconds / 3 * 2) }

    /// If servers take longer than this to answer, they count as slow, because a lease could be
    /// lost before the answer to its renewal arrives.
    var slow: Interval {
      Interval(nanoseconds: (lost.nanoseconds - renewal.nanoseconds) / 10 * 9)
    }
  }

  package enum Action: Equatable, Sendable {
    /// Write an entry. `expected` is the sequence of the entry to replace: 0 means that no entry
    /// exists, `nil` means that any entry is replaced.
    case put(key: String, value: JSONValue, expected: UInt64?, request: Int)
    /// Mark an entry as deleted if it still has the expected sequence; 0 means whatever its
    /// sequence is.
    case delete(key: String, expected: UInt64)
    /// Report that this node now leads the partition.
    case began(Partition, epoch: UInt64)
    /// Report that this node no longer leads the partition.
    case ended(Partition)
    /// Another running gateway uses the name of this node.
    case nameTaken
  }

  /// The node that, as far as is known, last led a partition.
  package struct Owner: Equatable, Sendable {
    package var node: String
    package var address: String
    package var epoch: UInt64
    /// Whether the owner's daemon is still loading the rooms.
    package var isLoading = false
  }

  private struct Entry {
    var owner: Owner
    var instance: String
    var sequence: UInt64
    var seenAt: Instant
    /// Whether the owner has given up the lease. Another node can then acquire it without waiting
    /// until it expires.
    var isDeleted = false
  }

  private struct HeldLease {
    var epoch: UInt64
    var sequence: UInt64
    var renewedAt: Instant
    var requestedAt: Instant
    var isLoading = true
  }

  private enum Purpose { case present, acquire(Partition), renew(Partition), announce(String) }

  package let settings: Settings
  private var entries: [Partition: Entry] = [:]
  private var nodes = KnownNodes()
  /// The time at which the servers stored the first entry of this run, by their clock.
  private var firstWritten: UInt64?
  /// Another run that uses this node's name and wrote after ``firstWritten``, and the time of its
  /// last write.
  private var namesake: (instance: String, written: UInt64)?
  private var held: [Partition: HeldLease] = [:]
  /// The partitions that this node has requested to acquire without having received an answer, and
  /// the times of these requests.
  private var acquiring: [Partition: Instant] = [:]
  private var announcements: Announcements
  private var requests: [Int: (purpose: Purpose, requestedAt: Instant)] = [:]
  private var nextRequest = 1
  private var presenceWrittenAt: Instant?
  /// How long the servers take to answer writes of this node's presence entry.
  package private(set) var timing: ServerTiming
  /// The time at which all entries of the servers were known. While this is `nil`, no partition is
  /// known to be free.
  private var currentSince: Instant?
  /// A reason to give up all partitions and to acquire none.
  package enum DrainReason: Sendable {
    case ending
    /// An administrator has asked the node to give up its partitions.
    case administrator
    /// The local daemon is not running.
    case noDaemon
    /// The servers answer so late that leases cannot be renewed in time. Without this reason, the
    /// node would acquire partitions again and again, so that no other node could lead them.
    case slow
  }

  package private(set) var drainReasons: Set<DrainReason> = []
  package var isDraining: Bool { !drainReasons.isEmpty }
  /// Whether this node writes its presence entry once per ``Settings/renewal``, which measures the
  /// servers' answer time.
  package var isTiming: Bool { !drainReasons.contains(.ending) }
  /// For each moved partition, the run of the node to which it was moved. If the node has restarted
  /// since, it does not know of the move, and other nodes do not leave the partition to it.
  private var preferred: [Partition: (node: String, instance: String)] = [:]

  /// The key of the entry that makes a node give up all partitions, or acquire its share again.
  package static func drainKey(of node: String) -> String { "c_\(node)" }
  /// The key of the entry that moves a partition to a node.
  package static func moveKey(of partition: Partition) -> String { "m_\(partition)" }

  package init(_ settings: Settings) {
    self.settings = settings
    announcements = Announcements(settings)
    timing = ServerTiming(slow: settings.slow)
  }

  // MARK: Knowledge

  /// The partitions that this node leads.
  package var partitions: Set<Partition> { Set(held.keys) }

  package func epoch(of partition: Partition) -> UInt64? { held[partition]?.epoch }

  /// Whether no daemon has the rooms of a partition yet. This is so while its owner is still
  /// loading them, or after its owner gave it up and before a new owner is known.
  package func isLoading(_ partition: Partition, at now: Instant) -> Bool {
    guard let entry = entries[partition] else { return false }
    return entry.isDeleted || entry.owner.isLoading && now - entry.seenAt < settings.duration
  }

  /// Returns the owner of a partition. If the lease has expired, returns the last owner until
  /// another node acquires the lease.
  package func owner(of partition: Partition) -> Owner? { entries[partition]?.owner }

  /// Whether any node holds the lease of a partition now.
  package func isLeased(_ partition: Partition, at now: Instant) -> Bool {
    guard let entry = entries[partition], !entry.isDeleted else { return false }
    return now - entry.seenAt < settings.duration
  }

  /// The addresses of the nodes that are alive and lead partitions, by name. Includes this node
  /// once this node's own entry is written.
  package func liveNodes(at now: Instant) -> [String: String] {
    nodes.present(at: now, within: settings.duration).mapValues(\.address)
  }

  /// The addresses of the nodes that run but lead no partitions, by name.
  package func idleNodes(at now: Instant) -> [String: String] {
    nodes.idle(at: now, within: settings.duration).mapValues(\.address)
  }

  /// The newest known run of a node.
  package func instance(of node: String) -> String? {
    node == settings.node ? settings.instance : nodes.instance(of: node)
  }

  /// The number of partitions that each node may lead.
  private func share(at now: Instant) -> Int {
    let others = liveNodes(at: now).keys.filter { $0 != settings.node }.count
    return (Partition.count + others) / (others + 1)
  }

  // MARK: Events

  /// Records that the watch has read all entries that the servers have.
  package mutating func becameCurrent(at now: Instant) {
    if currentSince == nil { currentSince = now }
  }

  /// Begins watching the bucket again. Until all entries are read, no partition is known to be
  /// free. Known sequences are discarded, because a bucket that was deleted and created again
  /// counts from 1.
  package mutating func lostSight() {
    currentSince = nil
    entries = entries.compactMapValues { entry in
      if entry.isDeleted { return nil }
      var entry = entry
      entry.sequence = 0
      return entry
    }
  }

  /// Records that an entry of the bucket was written, or deleted if `value` is `nil`. The servers
  /// stored it at `written`, in nanoseconds by their own clock.
  package mutating func observed(
    key: String, value: JSONValue?, sequence: UInt64, written: UInt64, at now: Instant
  ) -> [Action] {
    announcements.observed(key, value, sequence: sequence, at: now)
    let node = value.flatMap { value in
      value["instance"]?.stringValue.map {
        KnownNodes.Node(instance: $0, address: value["address"]?.stringValue ?? "", seenAt: now)
      }
    }
    if let name = nodes.observed(key, node) {
      guard name == settings.node, let node else { return [] }
      return isNameTaken(by: node.instance, written: written) ? [.nameTaken] : []
    }
    if key == Self.drainKey(of: settings.node) {
      guard let isDrained = value?["drain"]?.boolValue,
        value?["instance"]?.stringValue ?? settings.instance == settings.instance
      else { return [] }
      return isDrained ? drain(.administrator) : resume(.administrator)
    }
    if key.hasPrefix("m_"), let number = Int(key.dropFirst(2)),
      (0..<Partition.count).contains(number),
      let node = value?["node"]?.stringValue
    {
      return recordMove(
        node, value?["instance"]?.stringValue, for: Partition(number: number), at: now)
    }
    guard key.hasPrefix("p"), let number = Int(key.dropFirst()), number < Partition.count else {
      return []
    }
    let partition = Partition(number: number)
    guard entries[partition].map({ $0.sequence < sequence }) ?? true else { return [] }
    guard let value, let node = value["node"]?.stringValue else {
      entries[partition]?.isDeleted = true
      entries[partition]?.sequence = sequence
      return []
    }
    let epoch = value["epoch"]?.integerValue.map { UInt64(clamping: $0) } ?? sequence
    let owner = Owner(
      node: node, address: value["address"]?.stringValue ?? "", epoch: epoch,
      isLoading: value["loading"]?.boolValue == true)
    let instance = value["instance"]?.stringValue ?? ""
    entries[partition] = Entry(owner: owner, instance: instance, sequence: sequence, seenAt: now)
    // A newer write by another node proves that this node has lost the lease, even if the lease has
    // not expired by this node's clock.
    guard instance != settings.instance, let mine = held[partition], sequence > mine.sequence else {
      return []
    }
    return lose(partition)
  }

  /// Returns whether an entry under this node's name proves that another gateway uses the name.
  /// Only a running gateway writes repeatedly, so two later writes by the same other run are a
  /// proof. Entries of this node's earlier runs do not count. If servers rebuild a lost bucket from
  /// their log, they send the entries of earlier runs again, with rising sequences but with the
  /// original times.
  private mutating func isNameTaken(by instance: String, written: UInt64) -> Bool {
    if instance == settings.instance {
      if firstWritten == nil { firstWritten = written }
      return false
    }
    guard let firstWritten, written > firstWritten else { return false }
    defer { namesake = (instance, written) }
    guard let namesake, namesake.instance == instance else { return false }
    return written > namesake.written
  }

  /// Records the servers' answer to a request. `sequence` is `nil` if they rejected the write
  /// because another entry exists.
  package mutating func answered(_ request: Int, sequence: UInt64?, at now: Instant) -> [Action] {
    guard let (purpose, requestedAt) = requests.removeValue(forKey: request) else { return [] }
    switch purpose {
    case .present: return timed(now - requestedAt, at: now)
    case .acquire(let partition):
      acquiring[partition] = nil
      guard let sequence else {
        // The write expected the deletion mark of the entry, but the mark no longer exists and is
        // therefore forgotten.
        if entries[partition]?.isDeleted == true { entries[partition] = nil }
        return []
      }
      // The lease starts at the time of the request, not of the answer.
      guard now - requestedAt < settings.lost, !isDraining else {
        return [.delete(key: "p\(partition)", expected: sequence)]
      }
      precondition(held[partition] == nil, "partition \(partition) is led twice by this node")
      held[partition] = HeldLease(
        epoch: sequence, sequence: sequence, renewedAt: requestedAt, requestedAt: requestedAt)
      entries[partition] = Entry(
        owner: Owner(
          node: settings.node, address: settings.address, epoch: sequence, isLoading: true),
        instance: settings.instance, sequence: sequence, seenAt: requestedAt)
      return [.began(partition, epoch: sequence)]
    case .renew(let partition):
      guard held[partition] != nil else {
        // The lease was given up or lost before this answer arrived. Deleting the entry allows
        // other nodes to acquire the lease before it expires.
        return sequence.map { [.delete(key: "p\(partition)", expected: $0)] } ?? []
      }
      guard let sequence else { return lose(partition) }
      held[partition]?.sequence = sequence
      held[partition]?.renewedAt = requestedAt
      return []
    case .announce(let key):
      if let sequence { announcements.recordWritten(key, sequence: sequence, at: requestedAt) }
      return []
    }
  }

  /// Records that it is unknown whether a request has written its entry, because there was no
  /// answer or no clear answer.
  package mutating func failed(_ request: Int, at now: Instant) -> [Action] {
    guard let (purpose, requestedAt) = requests.removeValue(forKey: request) else { return [] }
    switch purpose {
    case .present: return now - requestedAt < settings.slow ? [] : timed(now - requestedAt, at: now)
    case .acquire(let partition): acquiring[partition] = nil
    case .renew, .announce: break
    }
    return []
  }

  /// Records how long the servers took to answer the write of the presence entry.
  private mutating func timed(_ time: Interval, at now: Instant) -> [Action] {
    timing.record(time, at: now)
    guard timing.isSlow != drainReasons.contains(.slow) else { return [] }
    return timing.isSlow ? drain(.slow) : resume(.slow)
  }

  /// Drops all outstanding requests, because the connection is lost.
  package mutating func forgetRequests() {
    requests = [:]
    acquiring = [:]
  }

  /// Records whether the daemon is still loading the rooms of a partition. The next tick informs
  /// the other nodes by renewing the lease.
  package mutating func mark(_ partition: Partition, isLoading: Bool) {
    guard held[partition]?.isLoading == !isLoading else { return }
    held[partition]?.isLoading = isLoading
    held[partition]?.requestedAt = .origin
    entries[partition]?.owner.isLoading = isLoading
  }

  private mutating func lose(_ partition: Partition) -> [Action] {
    held[partition] = nil
    return [.ended(partition)]
  }

  // MARK: Actions

  /// Returns the actions to carry out now. Must be called several times per renewal.
  package mutating func tick(at now: Instant) -> [Action] {
    var actions: [Action] = []
    for (partition, lease) in held where now - lease.renewedAt >= settings.lost {
      actions += lose(partition)
    }
    actions += announcements.due(at: now).map { write in
      .put(
        key: write.key, value: write.value, expected: write.expected,
        request: request(.announce(write.key), at: now))
    }
    guard let currentSince else { return actions + renewals(at: now) }
    if isTiming, presenceWrittenAt.map({ now - $0 >= settings.renewal }) ?? true {
      presenceWrittenAt = now
      actions.append(writePresence(at: now))
    }
    actions += renewals(at: now)
    guard !isDraining else { return actions }
    let share = share(at: now)
    actions += giveUpExcess(max(0, held.count - share))
    // After its start, a node first waits until it knows the other nodes. Otherwise it would
    // acquire partitions that it would have to give up again.
    guard now - currentSince >= settings.renewal else { return actions }
    actions += acquire(upTo: share - held.count - acquiring.count, at: now)
    // Partitions that were moved to this node are acquired even if it then has more than its share.
    // Later ticks give up other partitions instead.
    actions += acquire(upTo: Partition.count, at: now, onlyMoved: true)
    return actions
  }

  private mutating func request(_ purpose: Purpose, at now: Instant) -> Int {
    defer { nextRequest += 1 }
    requests[nextRequest] = (purpose, now)
    return nextRequest
  }

  /// Writes the presence entry of this node. The answer also measures the servers' answer time.
  private mutating func writePresence(at now: Instant) -> Action {
    .put(
      key: (isDraining ? KnownNodes.idle : KnownNodes.present) + settings.node,
      value: [
        "instance": .string(settings.instance), "address": .string(settings.address),
      ], expected: nil, request: request(.present, at: now))
  }

  /// Repeats an announcement to other nodes for ``Settings/announcementLifetime``. `sequence` is
  /// the sequence of the announcement's first write.
  package mutating func announce(
    _ key: String, _ value: JSONValue, sequence: UInt64, at now: Instant
  ) { announcements.add(key, value, sequence: sequence, at: now) }

  private func lease(epoch: UInt64?, isLoading: Bool) -> JSONValue {
    var members: [JSONName: JSONValue] = [
      "node": .string(settings.node), "instance": .string(settings.instance),
      "address": .string(settings.address),
    ]
    members["epoch"] = epoch.map { .integer(Int64(clamping: $0)) }
    if isLoading { members["loading"] = true }
    return .object(members)
  }

  private mutating func renewals(at now: Instant) -> [Action] {
    var actions: [Action] = []
    for (partition, lease) in held.sorted(by: { $0.key < $1.key })
    where now - lease.requestedAt >= settings.renewal {
      // A lease has at most one renewal in flight, because the servers would reject a second one.
      let isUnderWay = requests.values.contains {
        if case .renew(partition) = $0.purpose { true } else { false }
      }
      if isUnderWay { continue }
      held[partition]?.requestedAt = now
      actions.append(
        .put(
          key: "p\(partition)",
          value: self.lease(epoch: lease.epoch, isLoading: lease.isLoading),
          expected: lease.sequence, request: request(.renew(partition), at: now)))
    }
    return actions
  }

  /// Gives up this number of partitions. Keeps partitions that were moved to this node, because no
  /// other node would acquire them.
  private mutating func giveUpExcess(_ count: Int) -> [Action] {
    held.keys.filter { preferred[$0]?.instance != settings.instance }
      .sorted { rank($0) > rank($1) }.prefix(count).flatMap { giveUp($0) }
  }

  private mutating func giveUp(_ partition: Partition) -> [Action] {
    guard let lease = held.removeValue(forKey: partition) else { return [] }
    return [.ended(partition), .delete(key: "p\(partition)", expected: lease.sequence)]
  }

  private mutating func acquire(
    upTo count: Int, at now: Instant, onlyMoved: Bool = false
  ) -> [Action] {
    guard count > 0, !onlyMoved || !preferred.isEmpty else { return [] }
    let free = Partition.all.filter {
      let mover = preference(for: $0, at: now)
      return held[$0] == nil && acquiring[$0] == nil && !isLeased($0, at: now)
        && (mover == settings.node || mover == nil && !onlyMoved)
    }
    return free.sorted { rank($0) < rank($1) }.prefix(count).map { partition in
      acquiring[partition] = now
      let mark = entries[partition].flatMap { $0.isDeleted ? $0.sequence : nil }
      return .put(
        key: "p\(partition)", value: lease(epoch: nil, isLoading: true), expected: mark ?? 0,
        request: request(.acquire(partition), at: now))
    }
  }

  /// A number that determines the order in which this node acquires partitions. The order differs
  /// between nodes, so that two nodes seldom request the same partition.
  private func rank(_ partition: Partition) -> UInt64 {
    if preferred[partition]?.instance == settings.instance { return 0 }
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in "\(settings.node) \(partition)".utf8 {
      hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3
    }
    return hash ^ (hash >> 29)
  }

  /// Records that a partition must move to a node. If this node leads the partition and the other
  /// node is alive, gives up the partition.
  private mutating func recordMove(
    _ node: String, _ instance: String?, for partition: Partition, at now: Instant
  ) -> [Action] {
    preferred[partition] = (instance ?? self.instance(of: node)).map { (node, $0) }
    guard node != settings.node, held[partition] != nil,
      preference(for: partition, at: now) == node
    else { return [] }
    return giveUp(partition)
  }

  /// The node to which a partition was moved; `nil` if that run of the node is no longer alive.
  private func preference(for partition: Partition, at now: Instant) -> String? {
    guard let (node, instance) = preferred[partition] else { return nil }
    if instance == settings.instance { return node }
    guard let known = nodes[node], known.instance == instance,
      now - known.seenAt < settings.duration
    else { return nil }
    return node
  }

  /// Gives up all partitions, so that other nodes need not wait for the leases to expire.
  package mutating func drain(_ reason: DrainReason) -> [Action] {
    defer { drainReasons.insert(reason) }
    guard !isDraining else { return [] }
    // The next tick announces that this node leads no partitions.
    presenceWrittenAt = nil
    let actions = held.keys.sorted().flatMap { giveUp($0) }
    return actions + [.delete(key: KnownNodes.present + settings.node, expected: 0)]
  }

  /// Whether requests for leases of given-up partitions are still unanswered. These leases can be
  /// deleted only after the answers have arrived.
  package var isGivingUp: Bool {
    requests.values.contains {
      switch $0.purpose {
      case .renew(let partition), .acquire(let partition): held[partition] == nil
      case .present, .announce: false
      }
    }
  }

  /// Removes a reason to drain. If no other reason remains, the next ticks acquire a share again.
  @discardableResult
  package mutating func resume(_ reason: DrainReason) -> [Action] {
    drainReasons.remove(reason)
    presenceWrittenAt = nil
    return []
  }
}
