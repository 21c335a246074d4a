package import JSON
package import RateLimiting

/// Which node has which partition, and what this one does to have its share.
///
/// A lease is an entry of the bucket `lh_lease` that the servers forget after ``Settings/duration``. It is taken by
/// writing it where there is none and renewed by writing it again, each time only if nobody else has written since.
/// A lease that was not renewed for two thirds of its duration, by the monotonic clock of this machine, counts as
/// lost before anybody else can have it. A value: the caller passes the time and carries out the actions.
package struct LeaseKeeper: Sendable {
  package struct Settings: Sendable {
    /// The name of this node, which no other one may have.
    package var node: String
    /// Tells apart two runs of one node.
    package var instance: String
    /// Where others reach the control interface of this node.
    package var address: String
    package var duration = Interval.seconds(3)
    package var renewal = Interval.seconds(1)
    /// How long something is told. A watch whose server is gone is noticed after one ``duration``; another one may
    /// have to be asked for more than once.
    package var announcementLifetime = Interval.seconds(15)

    package init(node: String, instance: String, address: String) {
      (self.node, self.instance, self.address) = (node, instance, address)
    }

    /// When a lease that is not renewed counts as lost.
    var lost: Interval { Interval(nanoseconds: duration.nanoseconds / 3 * 2) }

    /// A later answer is too late: the lease may be lost before the next renewal is answered.
    var slow: Interval {
      Interval(nanoseconds: (lost.nanoseconds - renewal.nanoseconds) / 10 * 9)
    }
  }

  package enum Action: Equatable, Sendable {
    /// Write an entry; `expected` is the sequence of the entry that it replaces, 0 for none, nil for any.
    case put(key: String, value: JSONValue, expected: UInt64?, request: Int)
    /// Mark an entry as deleted if it is still this one.
    case delete(key: String, expected: UInt64)
    /// This node has the partition from now on.
    case began(Partition, epoch: UInt64)
    /// It has it no more.
    case ended(Partition)
    /// Another gateway that runs calls itself by the name of this one.
    case nameTaken
  }

  /// A partition's owner, as far as this node knows.
  package struct Owner: Equatable, Sendable {
    package var node: String
    package var address: String
    package var epoch: UInt64
    /// Whether its daemon has yet to get the rooms.
    package var isLoading = false
  }

  private struct Entry {
    var owner: Owner
    var instance: String
    /// Of the newest write.
    var sequence: UInt64
    var seen: Instant
    /// Given up: whoever wants it need not wait.
    var isDeleted = false
  }

  private struct Held {
    var epoch: UInt64
    var sequence: UInt64
    var renewed: Instant
    var asked: Instant
    var isLoading = true
  }

  private enum Purpose { case present, acquire(Partition), renew(Partition), announce(String) }

  package let settings: Settings
  private var entries: [Partition: Entry] = [:]
  private var nodes = KnownNodes()
  /// When the servers took the first entry of this run, by their clock.
  private var firstWritten: UInt64?
  /// Another run of this node that wrote after that, and when it last did.
  private var namesake: (instance: String, written: UInt64)?
  private var held: [Partition: Held] = [:]
  /// Partitions that were asked for and when, without an answer so far.
  private var acquiring: [Partition: Instant] = [:]
  private var announcements: Announcements
  private var requests: [Int: (purpose: Purpose, asked: Instant)] = [:]
  private var nextRequest = 1
  private var presented: Instant?
  /// How long the servers take for the entry by which they are timed.
  package private(set) var timing: ServerTiming
  /// Since when the entries are those of the servers; before, nothing is known to be free.
  private var currentSince: Instant?
  /// Why this node gives up what it has and takes no more.
  package enum DrainReason: Sendable {
    case ending
    /// Somebody wants it.
    case asked
    /// Its daemon is gone.
    case noDaemon
    /// The servers answer too late for a lease to be held. Without this it would take its share again and again, and
    /// nobody else could.
    case slow
  }

  package private(set) var drainReasons: Set<DrainReason> = []
  package var isDraining: Bool { !drainReasons.isEmpty }
  /// Whether it writes an entry once per ``Settings/renewal``, and so knows how long the servers take.
  package var isTiming: Bool { !drainReasons.contains(.ending) }
  /// The runs of nodes that are to have partitions that somebody moved. Another run of a node knows nothing of it and
  /// must not be waited for.
  private var preferred: [Partition: (node: String, instance: String)] = [:]

  /// The entry by which a node is asked to give up everything, or to take its share again.
  package static func drainKey(of node: String) -> String { "c_\(node)" }
  /// The entry by which a partition is moved to a node.
  package static func moveKey(of partition: Partition) -> String { "m_\(partition)" }

  package init(_ settings: Settings) {
    self.settings = settings
    announcements = Announcements(settings)
    timing = ServerTiming(slow: settings.slow)
  }

  // MARK: What is known

  /// The partitions of this node.
  package var partitions: Set<Partition> { Set(held.keys) }

  package func epoch(of partition: Partition) -> UInt64? { held[partition]?.epoch }

  /// Whether there is yet to be a daemon with the rooms: that of the owner, or of who comes after one that gave it up.
  package func isLoading(_ partition: Partition, at now: Instant) -> Bool {
    guard let entry = entries[partition] else { return false }
    return entry.isDeleted || entry.owner.isLoading && now - entry.seen < settings.duration
  }

  /// The owner; the last one known if the lease ran out and nobody has taken it.
  package func owner(of partition: Partition) -> Owner? { entries[partition]?.owner }

  /// Whether the lease of a partition is somebody's now.
  package func isLeased(_ partition: Partition, at now: Instant) -> Bool {
    guard let entry = entries[partition], !entry.isDeleted else { return false }
    return now - entry.seen < settings.duration
  }

  /// The nodes that are alive and take partitions, this one included once it has been written, by name with their addresses.
  package func liveNodes(at now: Instant) -> [String: String] {
    nodes.present(at: now, within: settings.duration).mapValues(\.address)
  }

  /// The nodes that run and take no partitions, likewise.
  package func idleNodes(at now: Instant) -> [String: String] {
    nodes.idle(at: now, within: settings.duration).mapValues(\.address)
  }

  /// The run of a node that is known here.
  package func instance(of node: String) -> String? {
    node == settings.node ? settings.instance : nodes.instance(of: node)
  }

  /// How many partitions a node may have.
  private func share(at now: Instant) -> Int {
    let others = liveNodes(at: now).keys.filter { $0 != settings.node }.count
    return (Partition.count + others) / (others + 1)
  }

  // MARK: What is heard

  /// The watch has caught up with what the servers have.
  package mutating func becameCurrent(at now: Instant) {
    if currentSince == nil { currentSince = now }
  }

  /// The watch begins anew: what is free must be learned again. Sequences of before mean nothing then, since a bucket
  /// that was removed and made again counts from 1.
  package mutating func lostSight() {
    currentSince = nil
    entries = entries.compactMapValues { entry in
      if entry.isDeleted { return nil }
      var entry = entry
      entry.sequence = 0
      return entry
    }
  }

  /// An entry of the bucket was written; `value` is nil if it was deleted.
  ///
  /// - Parameter written: when the servers took it, in nanoseconds by their own clock.
  package mutating func observed(
    key: String, value: JSONValue?, sequence: UInt64, written: UInt64, at now: Instant
  ) -> [Action] {
    announcements.observed(key, value, sequence: sequence, at: now)
    let node = value.flatMap { value in
      value["instance"]?.stringValue.map {
        KnownNodes.Node(instance: $0, address: value["address"]?.stringValue ?? "", seen: now)
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
      return isDrained ? drain(.asked) : resume(.asked)
    }
    if key.hasPrefix("m_"), let number = Int(key.dropFirst(2)),
      (0..<Partition.count).contains(number),
      let node = value?["node"]?.stringValue
    {
      return prefer(
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
    entries[partition] = Entry(owner: owner, instance: instance, sequence: sequence, seen: now)
    // Somebody else's write is newer than ours: we have lost it, whatever we believe.
    guard instance != settings.instance, let mine = held[partition], sequence > mine.sequence else {
      return []
    }
    return lose(partition)
  }

  /// Whether an entry of this node shows that another gateway with its name runs: one that does writes again and
  /// again. Servers that lost the bucket and build it anew from their log show what earlier runs of this node wrote,
  /// under rising sequences, but with the times at which they took it first.
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

  /// The servers have answered a request; `sequence` is nil if they refused it, because there is another entry.
  package mutating func answered(_ request: Int, sequence: UInt64?, at now: Instant) -> [Action] {
    guard let (purpose, asked) = requests.removeValue(forKey: request) else { return [] }
    switch purpose {
    case .present: return timed(now - asked, at: now)
    case .acquire(let partition):
      acquiring[partition] = nil
      guard let sequence else {
        // A mark of deletion that is gone by now must not be expected again.
        if entries[partition]?.isDeleted == true { entries[partition] = nil }
        return []
      }
      // The lease runs from when it was asked for.
      guard now - asked < settings.lost, !isDraining else {
        return [.delete(key: "p\(partition)", expected: sequence)]
      }
      held[partition] = Held(epoch: sequence, sequence: sequence, renewed: asked, asked: asked)
      entries[partition] = Entry(
        owner: Owner(
          node: settings.node, address: settings.address, epoch: sequence, isLoading: true),
        instance: settings.instance, sequence: sequence, seen: asked)
      return [.began(partition, epoch: sequence)]
    case .renew(let partition):
      guard held[partition] != nil else {
        // Given up or lost meanwhile: nobody need wait until it runs out.
        return sequence.map { [.delete(key: "p\(partition)", expected: $0)] } ?? []
      }
      guard let sequence else { return lose(partition) }
      held[partition]?.sequence = sequence
      held[partition]?.renewed = asked
      return []
    case .announce(let key):
      if let sequence { announcements.recordWritten(key, sequence: sequence, at: asked) }
      return []
    }
  }

  /// A request will have no answer, or none that says what was done.
  package mutating func failed(_ request: Int, at now: Instant) -> [Action] {
    guard let (purpose, asked) = requests.removeValue(forKey: request) else { return [] }
    switch purpose {
    case .present: return now - asked < settings.slow ? [] : timed(now - asked, at: now)
    case .acquire(let partition): acquiring[partition] = nil
    case .renew, .announce: break
    }
    return []
  }

  /// The servers took so long for the entry by which they are timed.
  private mutating func timed(_ time: Interval, at now: Instant) -> [Action] {
    timing.record(time, at: now)
    guard timing.isSlow != drainReasons.contains(.slow) else { return [] }
    return timing.isSlow ? drain(.slow) : resume(.slow)
  }

  /// The connection is lost, and with it all answers.
  package mutating func forgetRequests() {
    requests = [:]
    acquiring = [:]
  }

  /// Whether the daemon has yet to get the rooms of a partition. The others are told by a renewal, which is due at once.
  package mutating func mark(_ partition: Partition, isLoading: Bool) {
    guard held[partition]?.isLoading == !isLoading else { return }
    held[partition]?.isLoading = isLoading
    held[partition]?.asked = .origin
    entries[partition]?.owner.isLoading = isLoading
  }

  private mutating func lose(_ partition: Partition) -> [Action] {
    held[partition] = nil
    return [.ended(partition)]
  }

  // MARK: What is done

  /// To be called several times per renewal.
  package mutating func tick(at now: Instant) -> [Action] {
    var actions: [Action] = []
    for (partition, lease) in held where now - lease.renewed >= settings.lost {
      actions += lose(partition)
    }
    actions += announcements.due(at: now).map { write in
      .put(
        key: write.key, value: write.value, expected: write.expected,
        request: request(.announce(write.key), at: now))
    }
    guard let currentSince else { return actions + renewals(at: now) }
    if isTiming, presented.map({ now - $0 >= settings.renewal }) ?? true {
      presented = now
      actions.append(present(at: now))
    }
    actions += renewals(at: now)
    guard !isDraining else { return actions }
    let share = share(at: now)
    actions += shed(max(0, held.count - share))
    // Whoever begins first hears who else is there, so that it does not take what it would give back.
    guard now - currentSince >= settings.renewal else { return actions }
    actions += acquire(upTo: share - held.count - acquiring.count, at: now)
    // For these others are shed.
    actions += acquire(upTo: Partition.count, at: now, onlyMoved: true)
    return actions
  }

  private mutating func request(_ purpose: Purpose, at now: Instant) -> Int {
    defer { nextRequest += 1 }
    requests[nextRequest] = (purpose, now)
    return nextRequest
  }

  /// Says that this node is there, and whether it takes partitions. Also times the servers.
  private mutating func present(at now: Instant) -> Action {
    .put(
      key: (isDraining ? KnownNodes.idle : KnownNodes.present) + settings.node,
      value: [
        "instance": .string(settings.instance), "address": .string(settings.address),
      ], expected: nil, request: request(.present, at: now))
  }

  /// Something was told to nodes by an entry, which is written again for ``Settings/announcementLifetime``.
  ///
  /// - Parameter sequence: of the entry.
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
    where now - lease.asked >= settings.renewal {
      // Of several under way each but the first would be refused, by our own hand.
      let isUnderWay = requests.values.contains {
        if case .renew(partition) = $0.purpose { true } else { false }
      }
      if isUnderWay { continue }
      held[partition]?.asked = now
      actions.append(
        .put(
          key: "p\(partition)",
          value: self.lease(epoch: lease.epoch, isLoading: lease.isLoading),
          expected: lease.sequence, request: request(.renew(partition), at: now)))
    }
    return actions
  }

  /// Not what was moved here, which nobody else would take.
  private mutating func shed(_ count: Int) -> [Action] {
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

  /// Nodes want partitions in different orders, so that they seldom ask for the same one.
  private func rank(_ partition: Partition) -> UInt64 {
    if preferred[partition]?.instance == settings.instance { return 0 }
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in "\(settings.node) \(partition)".utf8 {
      hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3
    }
    return hash ^ (hash >> 29)
  }

  /// Somebody wants a node to have a partition. One of others makes room for it, if that node has its share.
  private mutating func prefer(
    _ node: String, _ instance: String?, for partition: Partition, at now: Instant
  ) -> [Action] {
    preferred[partition] = (instance ?? self.instance(of: node)).map { (node, $0) }
    guard node != settings.node, held[partition] != nil,
      preference(for: partition, at: now) == node
    else { return [] }
    return giveUp(partition)
  }

  /// The node to which a partition was moved, if that runs still.
  private func preference(for partition: Partition, at now: Instant) -> String? {
    guard let (node, instance) = preferred[partition] else { return nil }
    if instance == settings.instance { return node }
    guard let known = nodes[node], known.instance == instance,
      now - known.seen < settings.duration
    else { return nil }
    return node
  }

  /// Gives up everything: the others need not wait until the leases run out.
  package mutating func drain(_ reason: DrainReason) -> [Action] {
    defer { drainReasons.insert(reason) }
    guard !isDraining else { return [] }
    // Others hear at the next tick that it takes none.
    presented = nil
    let actions = held.keys.sorted().flatMap { giveUp($0) }
    return actions + [.delete(key: KnownNodes.present + settings.node, expected: 0)]
  }

  /// Whether the servers have yet to answer for a partition that was given up, so that it can be given up there.
  package var isGivingUp: Bool {
    requests.values.contains {
      switch $0.purpose {
      case .renew(let partition), .acquire(let partition): held[partition] == nil
      case .present, .announce: false
      }
    }
  }

  /// Takes a share again, unless there is another reason not to.
  @discardableResult
  package mutating func resume(_ reason: DrainReason) -> [Action] {
    drainReasons.remove(reason)
    presented = nil
    return []
  }
}
