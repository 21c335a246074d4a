import ControlInterface
import Dispatch
package import Ingest
import JSON
import LiveEvents
import LiveSources
package import NIOCore
package import NatsClient
import Platform
package import RateLimiting
import Varlink
import WireFormats

/// One gateway of a cluster: carries out what ``LeaseKeeper``, ``LogAppender``, ``LogFeed`` and ``LogConsumer``
/// decide, with NATS, the local daemon and a clock. Belongs to one event loop.
package final class ClusterNode {
  package struct Settings: Sendable {
    package var node: String
    /// Where other nodes reach the daemon's control interface: a path, or HOST:PORT of a tunnel.
    package var address: String
    /// The local daemon.
    package var ingest: String
    package var control: String
    package var replicas = 3
    package var nats = NatsClient.Settings()
    /// How long something of a room may be in no snapshot, and how many bytes of it.
    package var snapshotInterval = Interval.seconds(60)
    package var snapshotBytes = 1 << 20

    package init(node: String, address: String, ingest: String, control: String) {
      (self.node, self.address, self.ingest, self.control) = (node, address, ingest, control)
    }
  }

  private enum Reader: Hashable { case leases, log(Partition) }

  private static let interval = TimeAmount.milliseconds(100)
  /// How long the daemon may be away until other nodes take over its rooms. Longer than a restart by systemd
  /// takes; what follows adds some 0.3 s (measured), and the whole must stay under 8 s.
  private static let daemonPatience = Interval.seconds(6)
  private static let leaseSubject = ClusterStreams.leaseSubject

  let settings: Settings
  let eventLoop: any EventLoop
  let requests: NatsRequests
  private var pulls: [String: Reader] = [:]
  var keeper: LeaseKeeper
  private var watch: LogConsumer
  var appender: LogAppender<DeliveryReceipt>
  var feed = LogFeed()
  private var consumers: [Partition: LogConsumer] = [:]
  /// What the daemon knows each stream by: its name and when it was made.
  var logs: [String: String] = [:]
  /// Partitions that wait for the daemon's positions and for snapshots, and those of them that are asked for.
  var beginning: Set<Partition> = []
  private var loading: Set<Partition> = []
  /// What the store has of the rooms of this node's partitions.
  var stored: [Partition: [RoomName: SnapshotTransfer.Stored]] = [:]
  var snapshots = SnapshotCounts()
  var isSaving = false
  private var daemon: (any Channel)?
  /// Tells apart connections to the daemon.
  private var daemonRun = 0
  private var daemonGone: Instant? = Delivery.now
  private var daemonLines = LineSplitter(maximumLength: 64 << 10)
  private var isConnectingToDaemon = false
  private(set) var isStopped = false
  /// When the servers last took a write of this node, which needs a majority of them.
  private var lastWrite = Instant.origin
  /// When the watch heard of a write, or began.
  private var lastHeard = Delivery.now
  /// The program must end, because another gateway has its name.
  package var failed: (String) -> Void = { _ in }
  package let directory: NodeDirectory

  package init(_ settings: Settings, eventLoop: any EventLoop) {
    self.settings = settings
    self.eventLoop = eventLoop
    requests = NatsRequests()
    let session = "gateway/\(settings.node)/\(WallClock.nanoseconds())"
    keeper = LeaseKeeper(
      .init(node: settings.node, instance: session, address: settings.address))
    watch = LogConsumer(
      stream: ClusterStreams.leases, filter: Self.leaseSubject + ">", isLastOnly: true,
      at: Delivery.now)
    appender = LogAppender(session: session)
    directory = NodeDirectory(node: settings.node, control: settings.control)
  }

  // MARK: Starting

  /// Connects to NATS, makes the streams, and begins.
  package static func start(_ settings: Settings, on loop: any EventLoop) async throws
    -> NIOLoopBound<ClusterNode>
  {
    let node = try await loop.submit {
      NIOLoopBound(ClusterNode(settings, eventLoop: loop), eventLoop: loop)
    }.get()
    let events = NatsClient.Events(
      received: { message in loop.execute { node.value.receive(message) } },
      disconnected: { loop.execute { node.value.disconnected() } },
      connected: { loop.execute { node.value.requests.isConnected = true } })
    // On a thread of its own, since the library blocks.
    let client = try await withCheckedThrowingContinuation {
      (continuation: CheckedContinuation<NatsClient, any Error>) in
      DispatchQueue.global().async {
        continuation.resume(
          with: Result { try NatsClient(settings.nats, events: events) })
      }
    }
    let calls = try await loop.submit {
      node.value.requests.client = client
      node.value.requests.isConnected = true
      node.value.expireRequests()
      return node.value.calls
    }.get()
    let logs = try await ClusterStreams(calls: calls, replicas: settings.replicas).make()
    try await loop.submit {
      node.value.logs = logs
      node.value.tick()
    }.get()
    return node
  }

  var handle: NodeHandle {
    NodeHandle(NIOLoopBound(self, eventLoop: eventLoop), on: eventLoop)
  }

  var calls: NatsCalls {
    NatsCalls(requests: NIOLoopBound(requests, eventLoop: eventLoop), loop: eventLoop)
  }

  // MARK: NATS

  private func expireRequests() {
    guard !isStopped else { return }
    eventLoop.assumeIsolated().scheduleTask(in: Self.interval) { self.expireRequests() }
    requests.expire()
  }

  private func disconnected() {
    let now = Delivery.now
    requests.disconnected()
    pulls = [:]
    appender.disconnected()
    keeper.forgetRequests()
    watchAnew(now)
    for partition in consumers.keys { consumers[partition]?.disconnected(at: now) }
  }

  private func watchAnew(_ now: Instant) {
    keeper.lostSight()
    lastHeard = now
    watch = LogConsumer(
      stream: ClusterStreams.leases, filter: Self.leaseSubject + ">", isLastOnly: true, at: now)
  }

  private func receive(_ message: NatsMessage) {
    if message.reply?.hasPrefix("$JS.ACK.") == true {
      if message.subject.hasPrefix(Self.leaseSubject) { return read(message, of: .leases) }
      let tokens = message.subject.split(separator: ".")
      guard tokens.count == 4, let number = Int(tokens[2]) else { return }
      return read(message, of: .log(Partition(number: number)))
    }
    guard let dot = message.subject.lastIndex(of: ".") else { return }
    let token = String(message.subject[message.subject.index(after: dot)...])
    if requests.answer(message, to: token) { return }
    if let reader = pulls[token] { read(message, of: reader) }
  }

  private func read(_ message: NatsMessage, of reader: Reader) {
    let now = Delivery.now
    guard let reply = message.reply, reply.hasPrefix("$JS.ACK.") else {
      let status = message.status ?? 0
      switch reader {
      case .leases:
        watch.ended(status: status, at: now)
        noteCurrent(now)
      case .log(let partition): consumers[partition]?.ended(status: status, at: now)
      }
      return advance(reader, now)
    }
    switch reader {
    case .leases:
      if let place = watch.received(reply: reply, at: now) {
        lastHeard = now
        let key = String(message.subject.dropFirst(Self.leaseSubject.count))
        let value = message.bytes.isEmpty ? nil : try? JSONValue(parsing: message.bytes)
        perform(
          keeper.observed(
            key: key, value: value, sequence: place.sequence, written: place.written, at: now))
      }
      noteCurrent(now)
    case .log(let partition):
      if let place = consumers[partition]?.received(reply: reply, at: now),
        let room = Partition.room(ofLogSubject: message.subject),
        let log = logs[partition.stream]
      {
        feed.received(
          message.bytes, sequence: place.sequence, room: room, partition: partition, log: log,
          at: now)
        writeToDaemon()
        carryOut()
      }
    }
    advance(reader, now)
  }

  private func noteCurrent(_ now: Instant) {
    if watch.isCurrent { keeper.becameCurrent(at: now) }
  }

  /// Has a reader do what it wants to do next.
  private func advance(_ reader: Reader, _ now: Instant) {
    guard requests.isConnected else { return }
    let action: LogConsumer.Action?
    switch reader {
    case .leases: action = watch.tick(at: now)
    case .log(let partition):
      action = consumers[partition]?.tick(isPaused: feed.isFull, at: now)
    }
    switch action {
    case .create(let subject, let body):
      requests.request(subject, body.serialized(), within: .seconds(4)) {
        [unowned self] message in
        let reply = message.flatMap { try? JSONValue(parsing: $0.bytes) }
        let now = Delivery.now
        switch reader {
        case .leases:
          watch.created(reply, at: now)
          noteCurrent(now)
        case .log(let partition): consumers[partition]?.created(reply, at: now)
        }
        if reply != nil { advance(reader, now) }
      }
    case .pull(let subject, let body):
      for (token, other) in pulls where other == reader { pulls[token] = nil }
      let token = requests.token()
      pulls[token] = reader
      requests.publish(subject, token: token, body.serialized())
    case nil: break
    }
  }

  // MARK: Leases

  private func tick() {
    guard !isStopped else { return }
    eventLoop.assumeIsolated().scheduleTask(in: Self.interval) { self.tick() }
    let now = Delivery.now
    if let daemonGone, now - daemonGone >= Self.daemonPatience {
      perform(keeper.drain(.noDaemon))
    }
    perform(keeper.tick(at: now))
    if requests.isConnected {
      advance(.leases, now)
      for partition in consumers.keys { advance(.log(partition), now) }
      appender.tick(at: now)
      publish()
    }
    if daemon == nil { connectToDaemon() }
    begin()
    saveNext(now)
    directory.update(keeper, status: status(now), at: now)
  }

  func perform(_ actions: [LeaseKeeper.Action]) {
    for action in actions {
      switch action {
      case .put(let key, let value, let expected, let number):
        var headers: [(String, String)] = []
        if let expected { headers = [("Nats-Expected-Last-Subject-Sequence", "\(expected)")] }
        requests.request(
          Self.leaseSubject + key, headers: headers, value.serialized(), within: .seconds(2)
        ) { [unowned self] message in
          let now = Delivery.now
          guard let reply = message.flatMap({ try? JSONValue(parsing: $0.bytes) }) else {
            return keeper.failed(number)
          }
          if let sequence = LogMessage.sequence(of: reply) {
            lastWrite = now
            // It hears its own writes too, unless the servers have begun a new bucket behind its back.
            if now - lastHeard >= keeper.settings.duration { watchAnew(now) }
            perform(keeper.answered(number, sequence: sequence, at: now))
          } else if [10071, 10164].contains(reply["error"]?["err_code"]?.integerValue ?? 0) {
            perform(keeper.answered(number, sequence: nil, at: now))
          } else {
            keeper.failed(number)
          }
        }
      case .delete(let key, let expected):
        var headers = [("KV-Operation", "DEL")]
        if expected > 0 { headers.append(("Nats-Expected-Last-Subject-Sequence", "\(expected)")) }
        requests.request(Self.leaseSubject + key, headers: headers, within: .seconds(2)) { _ in }
      case .began(let partition, _): beginning.insert(partition)
      case .ended(let partition):
        beginning.remove(partition)
        consumers[partition] = nil
        stored[partition] = nil
        feed.end(partition)
      case .nameTaken: failed("another gateway that runs is called \(settings.node)")
      }
    }
    begin()
  }

  /// Asks the daemon for its positions and the store for snapshots, and begins to read the partitions that wait for
  /// them.
  private func begin() {
    let partitions = beginning.subtracting(loading)
    guard !partitions.isEmpty, daemon != nil, requests.isConnected else { return }
    loading.formUnion(partitions)
    let (control, names) = (settings.control, Set(logs.values))
    let held = eventLoop.makePromise(of: [RoomName: Int].self)
    held.completeWithTask { try await Self.positions(control, names) }
    for partition in partitions { begin(partition, held.futureResult) }
  }

  private func begin(_ partition: Partition, _ held: EventLoopFuture<[RoomName: Int]>) {
    let run = daemonRun
    let transfer = transfer
    let node = handle
    guard let epoch = keeper.epoch(of: partition) else {
      loading.remove(partition)
      return
    }
    let log = logs[partition.stream] ?? ""
    Task {
      let loaded = await ClusterNode.load(partition, log, held, epoch, transfer)
      node.perform { $0.loaded(partition, loaded, epoch: epoch, run: run) }
    }
  }

  private static func load(
    _ partition: Partition, _ log: String, _ held: EventLoopFuture<[RoomName: Int]>,
    _ epoch: UInt64, _ transfer: SnapshotTransfer
  ) async -> SnapshotTransfer.Loaded? {
    do {
      let held = try await held.get().filter { Partition(of: $0.key) == partition }
      return try await transfer.load(partition, log: log, held: held, epoch: epoch)
    } catch {
      // So that what fails at once is not tried without end.
      try? await Task.sleep(for: .milliseconds(500))
      return nil
    }
  }

  private func loaded(
    _ partition: Partition, _ loaded: SnapshotTransfer.Loaded?, epoch: UInt64, run: Int
  ) {
    loading.remove(partition)
    guard let loaded, daemon != nil, daemonRun == run,
      keeper.epoch(of: partition) == epoch, beginning.remove(partition) != nil
    else { return }
    let now = Delivery.now
    stored[partition] = loaded.stored
    snapshots.loaded += loaded.count
    snapshots.problems = (snapshots.problems + loaded.problems).suffix(8)
    snapshots.unusable += loaded.problems.count
    feed.begin(partition, loaded.rooms)
    consumers[partition] = LogConsumer(
      stream: partition.stream, filter: partition.logSubjects, after: loaded.through, at: now)
    advance(.log(partition), now)
  }

  /// What the daemon has of the logs, by room.
  private static func positions(
    _ control: String, _ logs: Set<String>
  ) async throws -> [RoomName: Int] {
    let client = try await ControlClient.connect(path: control)
    var held: [RoomName: Int] = [:]
    for summary in try await client.listRooms().rooms {
      guard let room = RoomName(summary.room) else { continue }
      let positions = (try? await client.getPositions(room: summary.room).positions) ?? [:]
      held[room] = positions.filter { logs.contains($0.key) }.values.max()
    }
    await client.client.close()
    return held
  }

  // MARK: The local daemon

  private func connectToDaemon() {
    guard !isConnectingToDaemon else { return }
    isConnectingToDaemon = true
    let node = NIOLoopBound(self, eventLoop: eventLoop)
    DaemonConnection.open(settings.ingest, on: eventLoop) {
      node.value.receiveFromDaemon($0)
    } writable: {
      node.value.writeToDaemon()
    } closed: {
      node.value.lostDaemon()
    }.assumeIsolated().whenComplete { [self] result in
      isConnectingToDaemon = false
      guard case .success(let channel) = result else { return }
      daemon = channel
      daemonRun += 1
      daemonGone = nil
      daemonLines = LineSplitter(maximumLength: 64 << 10)
      beginning = keeper.partitions
      perform(keeper.resume(.noDaemon))
    }
  }

  /// What it has not acknowledged is read again, from where it says.
  private func lostDaemon() {
    guard daemon != nil else { return }
    daemon = nil
    daemonGone = Delivery.now
    feed.reset()
    consumers = [:]
    stored = [:]
    beginning = keeper.partitions
  }

  private func receiveFromDaemon(_ bytes: UnsafeRawBufferPointer) {
    var tokens: [String] = []
    daemonLines.receive(bytes) { line in
      guard let value = try? JSONValue(parsing: Array(line)),
        ["synced", "applied"].contains(value["type"]?.stringValue ?? ""),
        let token = value["token"]?.stringValue
      else { return }
      tokens.append(token)
    }
    for token in tokens { feed.acknowledge(token) }
    carryOut()
    writeToDaemon()
  }

  func writeToDaemon() {
    guard let daemon, daemon.isWritable, let bytes = feed.nextWrite() else { return }
    daemon.writeAndFlush(ByteBuffer(bytes: bytes), promise: nil)
  }

  // MARK: Ingest

  /// Takes a batch for the log; its receipt is answered by the log.
  package func append(_ delivery: RoomDelivery) {
    var lines: [UInt8] = []
    for event in delivery.events { NativeEncoder.append(event, room: delivery.room, to: &lines) }
    if lines.isEmpty, appender.isIdle(delivery.room) { return delivery.receipt.markApplied() }
    appender.append(
      lines, position: delivery.events.isEmpty ? nil : delivery.position, in: delivery.room,
      receipt: delivery.receipt)
    publish()
  }

  func publish() {
    guard requests.isConnected else { return }
    for publication in appender.next(at: Delivery.now) {
      let number = publication.request
      let token = requests.expect(within: LogAppender<DeliveryReceipt>.patience) {
        [unowned self] message in
        let reply = message.flatMap { try? JSONValue(parsing: $0.bytes) }
        if reply.flatMap(LogMessage.sequence) != nil {
          for receipt in appender.stored(number) { receipt.markApplied() }
          publish()
        } else {
          appender.failed(number, at: Delivery.now)
        }
      }
      requests.publish(publication.subject, token: token, publication.body)
    }
  }

  // MARK: Status and end

  private func status(_ now: Instant) -> GatewayStatus {
    var problems: [String] = []
    if !requests.isConnected {
      problems.append("no NATS server is reached: nothing is acknowledged")
    } else if now - lastWrite >= keeper.settings.duration, !keeper.isDraining {
      problems.append("the NATS servers take no writes: nothing is acknowledged")
    }
    if daemon == nil {
      problems.append(
        keeper.isDraining
          ? "livehostd is not reached: other nodes have its rooms"
          : "livehostd is not reached: rooms are not fed")
    }
    if let since = appender.waitingSince, now - since >= .seconds(2) {
      problems.append(
        "the log has not answered for \((now - since).nanoseconds / 1_000_000_000) s: senders wait")
    }
    problems += snapshots.problems
    return GatewayStatus(
      node: settings.node, partitions: keeper.partitions.count,
      nodes: keeper.liveNodes(at: now).keys.sorted(),
      isDrained: keeper.drainReasons.contains(.asked), stored: appender.stored,
      repeated: appender.repeated, waitingBytes: appender.bytes, fed: feed.delivered,
      duplicates: feed.duplicates, unreadable: feed.unreadable, feedingBytes: feed.bytes,
      acts: snapshots.acts, snapshotsStored: snapshots.stored, snapshotsLoaded: snapshots.loaded,
      snapshotsFailed: snapshots.failed, snapshotsUnusable: snapshots.unusable,
      problems: problems)
  }

  /// Gives up all partitions, so that others have them at once.
  package func drain() { perform(keeper.drain(.ending)) }

  package func stop() {
    isStopped = true
    daemon?.close(promise: nil)
    daemon = nil
    requests.close()
  }
}

/// Why a gateway cannot begin.
package enum ClusterError: Error, Equatable, Sendable {
  case noJetStream
  /// The servers have not agreed on one for half a minute.
  case noLeader
  /// Below 2.11.
  case oldServer
  case stream(String, String)
}
