import Dispatch
package import Ingest
import JSON
import LiveEvents
import LiveSources
package import NIOCore
package import NatsClient
import Platform
package import RateLimiting
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

  private static let interval = TimeAmount.milliseconds(100)
  /// How long the daemon may be away until other nodes take over its rooms. Longer than a restart by systemd
  /// takes; what follows adds some 0.3 s (measured), and the whole must stay under 8 s.
  private static let daemonPatience = Interval.seconds(6)

  let settings: Settings
  let eventLoop: any EventLoop
  let requests: NatsRequests
  /// What is asked for messages, by the name of the answers.
  var pulls: [String: Reader] = [:]
  var keeper: LeaseKeeper
  var watch: LogConsumer
  var appender: LogAppender<DeliveryReceipt>
  var sources = SourceConnections()
  var feed = LogFeed()
  var consumers: [Partition: LogConsumer] = [:]
  /// What the daemon knows each stream by: its name and when it was made.
  var logs: [String: String] = [:]
  /// What is wrong with the streams as they were found.
  var streamProblems: [String] = []
  /// Partitions that wait for the daemon's positions and for snapshots, and those of them that are asked for.
  var beginning: Set<Partition> = []
  var loading: Set<Partition> = []
  /// Partitions that are read, but of which the daemon does not have all that was in the log when they began.
  var catchingUp: Set<Partition> = []
  /// Why partitions could not be loaded, and how often in a row.
  var loadFailures: [Partition: (reason: String, count: Int)] = [:]
  /// When partitions were begun once more, since the daemon did not have what it had been given.
  var begunAnew: [Partition: Instant] = [:]
  /// Partitions that are about to be.
  var restarting: Set<Partition> = []
  /// Since when other nodes have partitions, with their rooms.
  var elsewhere: [Partition: Instant] = [:]
  /// Partitions whose rooms are being closed here, and when that is due again.
  var releasing: Set<Partition> = []
  var nextRelease = Instant.origin
  /// What the store has of the rooms of this node's partitions.
  var stored: [Partition: [RoomName: SnapshotTransfer.Stored]] = [:]
  var snapshots = SnapshotCounts()
  var isSaving = false
  /// With one snapshot more on its way to it the daemon would forget all of them.
  let uploads = Slots(8)
  /// Rooms that are opened take a connection each, of which the daemon has some hundreds.
  let openings = Slots(32)
  let daemon: LocalDaemon
  private(set) var isStopped = false
  /// When the servers last took a write of this node, which needs a majority of them.
  var lastWrite = Instant.origin
  /// When the watch heard of a write, or began.
  var lastHeard = Delivery.now
  /// Why streams of the log do not take messages, as servers say.
  var refusals: [String: String] = [:]
  private var journal = ProblemJournal()
  /// The program must end.
  package var failed: (ClusterError) -> Void = { _ in }
  /// Called with lines for the journal.
  package var told: (String) -> Void = { _ in }
  package let directory: NodeDirectory

  package init(_ settings: Settings, eventLoop: any EventLoop) {
    self.settings = settings
    self.eventLoop = eventLoop
    daemon = LocalDaemon(path: settings.ingest, on: eventLoop)
    requests = NatsRequests()
    let session = "gateway/\(settings.node)/\(WallClock.nanoseconds())"
    keeper = LeaseKeeper(
      .init(node: settings.node, instance: session, address: settings.address))
    watch = LogConsumer(
      stream: ClusterStreams.leases, filter: ClusterStreams.leaseSubject + ">", isLastOnly: true,
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
      connected: { loop.execute { node.value.requests.isConnected = true } },
      closed: { reason in
        loop.execute { if !node.value.isStopped { node.value.failed(.closed(reason)) } }
      })
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
    let made = try await ClusterStreams(calls: calls, replicas: settings.replicas).make()
    try await loop.submit {
      node.value.logs = made.logs
      node.value.streamProblems = made.problems
      if client.maximumPayload < LogMessage.maximumBytes {
        node.value.streamProblems.append(
          "the NATS servers take no message above \(client.maximumPayload) bytes, and senders of longer batches wait for ever;"
            + " set max_payload to 1MB")
      }
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

  // MARK: Its clock

  private func expireRequests() {
    guard !isStopped else { return }
    eventLoop.assumeIsolated().scheduleTask(in: Self.interval) { self.expireRequests() }
    requests.expire()
  }

  private func tick() {
    guard !isStopped else { return }
    eventLoop.assumeIsolated().scheduleTask(in: Self.interval) { self.tick() }
    let now = Delivery.now
    if let gone = daemon.goneSince, now - gone >= Self.daemonPatience {
      perform(keeper.drain(.noDaemon))
    }
    noteLoaded()
    perform(keeper.tick(at: now))
    if requests.isConnected {
      advance(.leases, now)
      for partition in consumers.keys { advance(.log(partition), now) }
      appender.tick(at: now)
      publish()
    }
    connectToDaemon()
    release(now)
    offerRefused(now)
    begin()
    saveNext(now)
    let problems = problems(now)
    for line in journal.note(problems, at: now) { told(line) }
    directory.update(keeper, status: status(now, problems), at: now)
  }

  // MARK: Ingest

  /// Takes a batch for the log; its receipt is answered by the log.
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

  func publish() {
    guard requests.isConnected else { return }
    for publication in appender.next(at: Delivery.now) {
      let number = publication.request
      let token = requests.expect(within: LogAppender<DeliveryReceipt>.memory) {
        [unowned self] message in
        let reply = message.flatMap { try? JSONValue(parsing: $0.bytes) }
        if reply.flatMap(LogMessage.sequence) != nil {
          refusals[publication.stream] = nil
          for receipt in appender.stored(number) { receipt.markApplied() }
          publish()
        } else {
          refusals[publication.stream] = reply?["error"]?["description"]?.stringValue
          appender.failed(number, at: Delivery.now)
        }
      }
      requests.publish(publication.subject, token: token, publication.body)
    }
  }

  // MARK: Its end

  /// Gives up all partitions, so that others have them at once. Done once nothing is under way that would take or renew a
  /// lease, after 2 s at most.
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

  /// Ends, once the servers have what was written.
  package func stop() -> EventLoopFuture<Void> {
    isStopped = true
    daemon.close()
    let closed = eventLoop.makePromise(of: Void.self)
    requests.close { closed.succeed() }
    return closed.futureResult
  }
}
