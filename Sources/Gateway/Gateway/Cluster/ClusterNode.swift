import Dispatch
package import Ingest
import JSON
import LiveEvents
import LiveSources
package import NIOCore
package import RateLimiting
import SystemSupport
import WireFormats

/// One node of a cluster: a gateway with its connections to NATS and to the local daemon.
///
/// Each decision is made by a value type:
/// - ``LeaseKeeper``: which partitions the node leads,
/// - ``LogAppender``: which messages to append to the replicated log,
/// - ``StreamReaders``: how leases and logs are read,
/// - ``Takeovers``: when the rooms of partitions are loaded,
/// - ``LogFeed``: which batches and host actions the daemon receives,
/// - ``StoredSnapshots``: which headers the store has,
/// - ``CopyRelease``: when to close copies of rooms that other nodes lead.
///
/// The node passes the time and the answers to requests to these values, and carries out the
/// actions that they return. Confined to one event loop.
package final class ClusterNode {
  package struct Settings: Sendable {
    package var node: String
    /// The path, or HOST:PORT of a tunnel, at which other nodes reach the daemon's control
    /// interface.
    package var address: String
    /// The path of the local daemon's ingest socket.
    package var ingest: String
    /// The path of the local daemon's control socket.
    package var control: String
    package var replicas = 3
    package var nats = NatsClient.Settings()
    /// The maximum time until a change of a room is contained in a stored snapshot.
    package var snapshotInterval = Interval.seconds(60)
    /// The number of bytes in a room's log after which a snapshot is stored earlier.
    package var snapshotBytes = 1 << 20

    package init(node: String, address: String, ingest: String, control: String) {
      (self.node, self.address, self.ingest, self.control) = (node, address, ingest, control)
    }
  }

  private static let interval = TimeAmount.milliseconds(100)
  /// How long the daemon may be unreachable before other nodes take over its rooms. This is longer
  /// than systemd needs to restart the daemon. The rest of a takeover takes about 0.3 s (measured),
  /// and the whole takeover must take less than 8 s.
  private static let daemonPatience = Interval.seconds(6)

  let settings: Settings
  private let eventLoop: any EventLoop

  // Value types that make decisions.
  var keeper: LeaseKeeper
  var readers = StreamReaders(at: SourceDelivery.now)
  private var appender: LogAppender<DeliveryReceipt>
  var feed = LogFeed()
  var takeovers = Takeovers()
  var copies: CopyRelease
  var stored = StoredSnapshots()
  var sources = SourceConnections()

  // Value types that collect counts and problems.
  var counts = SnapshotCounts()
  var problems = NodeProblems()
  private var journal = ProblemJournal()
  package let directory: NodeDirectory

  // Objects that carry out decisions.
  let requests = NatsRequests()
  let daemon: LocalDaemon
  let acts: DaemonActs
  /// Limits uploads to the number that the daemon accepts concurrently. One more would replace
  /// another upload.
  private let uploads = Slots(8)
  /// For each stream, the name that the daemon uses for it, which consists of the stream's name and
  /// its creation time.
  private(set) var logs: [String: String] = [:]
  private var isStopped = false

  /// Called when the program must exit.
  package var failed: (ClusterError) -> Void = { _ in }
  /// Called with lines for the journal.
  package var report: (String) -> Void = { _ in }

  package init(_ settings: Settings, eventLoop: any EventLoop) {
    self.settings = settings
    self.eventLoop = eventLoop
    daemon = LocalDaemon(path: settings.ingest, on: eventLoop)
    acts = DaemonActs(control: settings.control)
    copies = CopyRelease(interval: settings.snapshotInterval)
    let session = "gateway/\(settings.node)/\(WallClock.nanoseconds())"
    keeper = LeaseKeeper(
      .init(node: settings.node, instance: session, address: settings.address))
    appender = LogAppender(session: session)
    directory = NodeDirectory(node: settings.node, control: settings.control)
  }

  // MARK: Start

  /// Connects to NATS, creates the streams, and starts the node.
  package static func start(_ settings: Settings, on loop: any EventLoop) async throws
    -> NIOLoopBound<ClusterNode>
  {
    let node = try await loop.submit {
      NIOLoopBound(ClusterNode(settings, eventLoop: loop), eventLoop: loop)
    }.get()
    let events = NatsClient.Events(
      received: { message in loop.execute { node.value.receive(message) } },
      disconnected: { loop.execute { node.value.disconnected() } },
      connected: { loop.execute { node.value.requests.connected() } },
      closed: { reason in
        loop.execute { if !node.value.isStopped { node.value.failed(.closed(reason)) } }
      })
    // A dedicated thread makes the connection, because the library blocks the calling thread.
    let client = try await withCheckedThrowingContinuation {
      (continuation: CheckedContinuation<NatsClient, any Error>) in
      DispatchQueue.global().async {
        continuation.resume(
          with: Result { try NatsClient(settings.nats, events: events) })
      }
    }
    let calls = try await loop.submit {
      node.value.requests.connected(client)
      node.value.expireRequests()
      return node.value.calls
    }.get()
    var streams = try await ClusterStreams(calls: calls, replicas: settings.replicas).make()
    if client.maximumPayload < LogMessage.maximumBytes {
      streams.problems.append(
        "the NATS servers accept no message above \(client.maximumPayload) bytes, and senders of"
          + " longer batches wait forever; set max_payload to 1MB")
    }
    try await loop.submit { [streams] in
      node.value.logs = streams.logs
      node.value.problems = NodeProblems(streams: streams.problems)
      node.value.tick()
    }.get()
    return node
  }

  /// Gives tasks access to this node, which is confined to its event loop.
  var handle: NodeHandle {
    NodeHandle(NIOLoopBound(self, eventLoop: eventLoop), on: eventLoop)
  }

  var calls: NatsCalls {
    NatsCalls(requests: NIOLoopBound(requests, eventLoop: eventLoop), loop: eventLoop)
  }

  var transfer: SnapshotTransfer {
    SnapshotTransfer(calls: calls, control: settings.control, uploads: uploads)
  }

  var rooms: DaemonRooms { DaemonRooms(control: settings.control, logs: Set(logs.values)) }

  // MARK: Clock

  private func expireRequests() {
    guard !isStopped else { return }
    eventLoop.assumeIsolated().scheduleTask(in: Self.interval) { self.expireRequests() }
    requests.expire()
  }

  private func tick() {
    guard !isStopped else { return }
    eventLoop.assumeIsolated().scheduleTask(in: Self.interval) { self.tick() }
    let now = SourceDelivery.now
    if let absentSince = daemon.absentSince, now - absentSince >= Self.daemonPatience {
      perform(keeper.drain(.noDaemon))
    }
    reportLoaded()
    perform(keeper.tick(at: now))
    if requests.isConnected {
      for reader in readers.all { advance(reader, now) }
      appender.tick(at: now)
      publish()
    }
    connectToDaemon()
    closeCopies(now)
    restartRefused(now)
    load()
    storeNext(now)
    update(now)
  }

  private func update(_ now: Instant) {
    var found = problems.current(
      isConnected: requests.isConnected, hasDaemon: daemon.isConnected, keeper, appender, at: now)
    found += takeovers.problems + problems.lasting + counts.problems()
    for line in journal.update(found, at: now) { report(line) }
    let status = GatewayStatus(
      node: settings.node, partitions: keeper.partitions.count,
      nodes: keeper.liveNodes(at: now).keys.sorted(),
      idle: keeper.idleNodes(at: now).keys.sorted(),
      isDrained: keeper.drainReasons.contains(.administrator), stored: appender.stored,
      repeated: appender.repeated, waitingBytes: appender.bytes, fed: feed.delivered,
      duplicates: feed.duplicates, unreadable: feed.unreadable, feedingBytes: feed.bytes,
      acts: counts.acts, snapshotsStored: counts.stored, snapshotsLoaded: counts.loaded,
      snapshotsFailed: counts.failed, snapshotsUnusable: counts.unusable,
      problems: found.map(\.text) + counts.unusable(at: now))
    directory.update(keeper, status: status, at: now)
  }

  // MARK: Messages to the log

  /// Appends a batch to the replicated log. The batch's receipt is acknowledged once the log has
  /// stored the batch.
  package func append(_ delivery: RoomDelivery) {
    let (room, position) = (delivery.room, delivery.events.isEmpty ? nil : delivery.position)
    let batch = LoggedBatch(delivery.events, position: position, in: room)
    delivery.receipt.markRejected(batch.tooLong)
    if batch.messages.isEmpty, appender.isIdle(room) { return delivery.receipt.markApplied() }
    for lines in batch.messages.dropLast() {
      appender.append(lines, position: nil, in: room, receipt: nil)
    }
    appender.append(
      batch.messages.last ?? [], position: batch.messages.isEmpty ? nil : position, in: room,
      receipt: delivery.receipt)
    publish()
  }

  /// How long a host action may take, including a change of the room's owner.
  private static let actPatience = Interval.seconds(30)

  /// Appends a host action to the replicated log, and calls `answered` once with its outcome, or
  /// with `nil` if the outcome is unknown.
  func append(
    _ kind: LoggedAct.Kind, in room: RoomName, answered: @escaping (JSONValue?) -> Void
  ) {
    let token = requests.expect(within: Self.actPatience) { message in
      answered(message.flatMap { try? JSONValue(parsing: $0.bytes) })
    }
    let act = LoggedAct(kind, answer: requests.subject(of: token) ?? "")
    appender.append(
      act.line, position: nil, in: room, isAlone: true, receipt: DeliveryReceipt())
    publish()
  }

  private func publish() {
    guard requests.isConnected else { return }
    for publication in appender.next(at: SourceDelivery.now) {
      let number = publication.request
      let token = requests.expect(within: LogAppender<DeliveryReceipt>.memory) {
        [unowned self] message in
        let reply = message.flatMap { try? JSONValue(parsing: $0.bytes) }
        if reply.flatMap(LogMessage.sequence) != nil {
          problems.recordMessage(in: publication.stream)
          for receipt in appender.stored(number) { receipt.markApplied() }
          publish()
        } else {
          problems.recordRefusal(
            of: publication.stream, reply?["error"]?["description"]?.stringValue)
          appender.failed(number, at: SourceDelivery.now)
        }
      }
      requests.publish(publication.subject, token: token, publication.body)
    }
  }

  /// Handles the loss of the connection to NATS. No outstanding request will be answered.
  private func disconnected() {
    let now = SourceDelivery.now
    keeper.forgetRequests()
    requests.disconnected()
    appender.disconnected()
    keeper.lostSight()
    readers.disconnect(at: now)
  }

  // MARK: End

  /// Gives up all partitions, so that other nodes can acquire them immediately. Succeeds once no
  /// request to acquire or renew a lease is in flight, or after 2 s.
  package func drain() -> EventLoopFuture<Void> {
    perform(keeper.drain(.ending))
    let drained = eventLoop.makePromise(of: Void.self)
    awaitAnswers(drained)
    return drained.futureResult
  }

  private func awaitAnswers(_ drained: EventLoopPromise<Void>) {
    guard keeper.isGivingUp else { return drained.succeed() }
    eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(10)) { self.awaitAnswers(drained) }
  }

  /// Closes all connections once all published messages are written.
  package func stop() -> EventLoopFuture<Void> {
    isStopped = true
    daemon.close()
    let closed = eventLoop.makePromise(of: Void.self)
    requests.close { closed.succeed() }
    return closed.futureResult
  }
}
