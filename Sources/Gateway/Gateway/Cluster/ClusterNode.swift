import ControlInterface
import Dispatch
package import Ingest
import JSON
import LiveEvents
import LiveSources
package import NIOCore
package import NatsClient
import Platform
import RateLimiting
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

    package init(node: String, address: String, ingest: String, control: String) {
      (self.node, self.address, self.ingest, self.control) = (node, address, ingest, control)
    }
  }

  private enum Reader: Hashable { case leases, log(Partition) }

  private struct Request {
    let deadline: Instant
    let answered: (NatsMessage?) -> Void
  }

  private static let interval = TimeAmount.milliseconds(100)
  static let leases = "KV_lh_lease"
  private static let leaseSubject = "$KV.lh_lease."

  let settings: Settings
  private let eventLoop: any EventLoop
  private var nats: NatsClient?
  private var isConnected = false
  private var requests: [String: Request] = [:]
  private var nextToken = 1
  private var pulls: [String: Reader] = [:]
  private var keeper: LeaseKeeper
  private var watch: LogConsumer
  private var appender: LogAppender<DeliveryReceipt>
  private var feed = LogFeed()
  private var consumers: [Partition: LogConsumer] = [:]
  /// What the daemon knows each stream by: its name and when it was made.
  private var logs: [String: String] = [:]
  /// Partitions that wait for the daemon's positions.
  private var beginning: Set<Partition> = []
  private var isAskingPositions = false
  private var daemon: (any Channel)?
  private var daemonLines = LineSplitter(maximumLength: 64 << 10)
  private var isConnectingToDaemon = false
  private var isStopped = false
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
    let session = "gateway/\(settings.node)/\(WallClock.nanoseconds())"
    keeper = LeaseKeeper(
      .init(node: settings.node, instance: session, address: settings.address))
    watch = LogConsumer(
      stream: Self.leases, filter: Self.leaseSubject + ">", isLastOnly: true, at: Delivery.now)
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
      connected: { loop.execute { node.value.isConnected = true } })
    // On a thread of its own, since the library blocks.
    let client = try await withCheckedThrowingContinuation {
      (continuation: CheckedContinuation<NatsClient, any Error>) in
      DispatchQueue.global().async {
        continuation.resume(
          with: Result { try NatsClient(settings.nats, events: events) })
      }
    }
    try await loop.submit {
      node.value.nats = client
      node.value.isConnected = true
      node.value.expireRequests()
    }.get()
    try await setUp(node, loop, settings)
    try await loop.submit { node.value.tick() }.get()
    return node
  }

  /// Checks the servers and makes the streams, which is the same whoever does it.
  private static func setUp(
    _ node: NIOLoopBound<ClusterNode>, _ loop: any EventLoop, _ settings: Settings
  ) async throws {
    let information = try await information(node, loop)
    guard (information["api"]?["level"]?.integerValue ?? 0) >= 1 else {
      throw ClusterError.oldServer
    }
    for index in 0..<Partition.streamCount {
      let name = Partition.stream(index)
      let subjects = Partition.all.filter { $0.stream == name }.map(\.logSubjects)
      let created = try await makeStream(
        node, loop, name,
        [
          "name": .string(name), "subjects": .array(subjects.map { .string($0) }),
          "retention": "limits", "storage": "file", "discard": "old",
          "num_replicas": .integer(Int64(settings.replicas)),
          "max_age": .integer(86_400_000_000_000), "max_msg_size": .integer(1 << 20),
          "duplicate_window": .integer(120_000_000_000), "deny_delete": true,
          "allow_direct": false,
        ])
      try await loop.submit { node.value.logs[name] = "log/\(name)/\(created)" }.get()
    }
    _ = try await makeStream(
      node, loop, leases,
      [
        "name": .string(leases), "subjects": [.string(leaseSubject + ">")],
        "retention": "limits", "storage": "memory", "discard": "new",
        "num_replicas": .integer(Int64(settings.replicas)), "max_msgs_per_subject": 1,
        "max_age": .integer(3_000_000_000), "duplicate_window": .integer(3_000_000_000),
        "deny_delete": true, "allow_rollup_hdrs": true, "allow_direct": false,
      ])
  }

  /// What the servers say of themselves, once they have a leader: those that have just started elect one for some
  /// seconds, and answer with an error or not at all so long.
  private static func information(
    _ node: NIOLoopBound<ClusterNode>, _ loop: any EventLoop
  ) async throws -> JSONValue {
    let deadline = Delivery.now + .seconds(30)
    while Delivery.now < deadline {
      let reply = try await ask(node, loop, "$JS.API.INFO", nil)
      guard let error = reply?["error"] else {
        if let reply { return reply }
        continue
      }
      guard error["err_code"]?.integerValue == clusterNotAvailable else {
        throw ClusterError.noJetStream
      }
      try await Task.sleep(for: .milliseconds(500))
    }
    throw ClusterError.noLeader
  }

  /// The server's error "JetStream system temporarily unavailable".
  private static let clusterNotAvailable: Int64 = 10008

  /// Returns when the stream was made first.
  private static func makeStream(
    _ node: NIOLoopBound<ClusterNode>, _ loop: any EventLoop, _ name: String,
    _ configuration: JSONValue
  ) async throws -> String {
    var last = "no answer"
    // Servers that have just started have no leader yet.
    for _ in 0..<20 {
      let reply = try await ask(node, loop, "$JS.API.STREAM.CREATE.\(name)", configuration)
      if let created = reply?["created"]?.stringValue { return created }
      if let error = reply?["error"] {
        last = error["description"]?.stringValue ?? "\(error)"
        // A stream of this name with other settings, such as more bytes, is an administrator's.
        if error["err_code"]?.integerValue == 10058 {
          let known = try await ask(node, loop, "$JS.API.STREAM.INFO.\(name)", nil)
          if let created = known?["created"]?.stringValue { return created }
        }
      }
      try await Task.sleep(for: .milliseconds(500))
    }
    throw ClusterError.stream(name, last)
  }

  private static func ask(
    _ node: NIOLoopBound<ClusterNode>, _ loop: any EventLoop, _ subject: String, _ body: JSONValue?
  ) async throws -> JSONValue? {
    try await loop.flatSubmit {
      let promise = loop.makePromise(of: JSONValue?.self)
      node.value.request(subject, body?.serialized() ?? [], within: .seconds(5)) { message in
        promise.succeed(
          message.flatMap { message in
            // From the server, in place of an answer: nobody listens to this subject.
            if let status = message.status { return ["error": ["code": .integer(Int64(status))]] }
            return try? JSONValue(parsing: message.bytes)
          })
      }
      return promise.futureResult
    }.get()
  }

  // MARK: NATS

  private func token() -> String {
    defer { nextToken += 1 }
    return "t\(nextToken)"
  }

  private func request(
    _ subject: String, headers: [(String, String)] = [], _ body: [UInt8], within: Interval,
    answered: @escaping (NatsMessage?) -> Void
  ) {
    let token = token()
    guard let nats, isConnected else { return answered(nil) }
    nats.publish(subject, token: token, headers: headers, body)
    requests[token] = Request(deadline: Delivery.now + within, answered: answered)
  }

  private func expireRequests() {
    guard !isStopped else { return }
    eventLoop.assumeIsolated().scheduleTask(in: Self.interval) { self.expireRequests() }
    let now = Delivery.now
    for (token, request) in requests where now >= request.deadline {
      requests[token] = nil
      request.answered(nil)
    }
  }

  private func disconnected() {
    isConnected = false
    let now = Delivery.now
    let open = requests
    requests = [:]
    for request in open.values { request.answered(nil) }
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
      stream: Self.leases, filter: Self.leaseSubject + ">", isLastOnly: true, at: now)
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
    if let request = requests.removeValue(forKey: token) { return request.answered(message) }
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
          message.bytes, sequence: place.sequence, room: room, partition: partition, log: log)
        writeToDaemon()
      }
    }
    advance(reader, now)
  }

  private func noteCurrent(_ now: Instant) {
    if watch.isCurrent { keeper.becameCurrent(at: now) }
  }

  /// Has a reader do what it wants to do next.
  private func advance(_ reader: Reader, _ now: Instant) {
    guard isConnected else { return }
    let action: LogConsumer.Action?
    switch reader {
    case .leases: action = watch.tick(at: now)
    case .log(let partition):
      action = consumers[partition]?.tick(isPaused: feed.isFull, at: now)
    }
    switch action {
    case .create(let subject, let body):
      request(subject, body.serialized(), within: .seconds(4)) { [unowned self] message in
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
      let token = token()
      pulls[token] = reader
      nats?.publish(subject, token: token, body.serialized())
    case nil: break
    }
  }

  // MARK: Leases

  private func tick() {
    guard !isStopped else { return }
    eventLoop.assumeIsolated().scheduleTask(in: Self.interval) { self.tick() }
    let now = Delivery.now
    perform(keeper.tick(at: now))
    if isConnected {
      advance(.leases, now)
      for partition in consumers.keys { advance(.log(partition), now) }
      appender.tick(at: now)
      publish()
    }
    if daemon == nil { connectToDaemon() }
    begin()
    directory.update(keeper, status: status(now), at: now)
  }

  private func perform(_ actions: [LeaseKeeper.Action]) {
    for action in actions {
      switch action {
      case .put(let key, let value, let expected, let number):
        var headers: [(String, String)] = []
        if let expected { headers = [("Nats-Expected-Last-Subject-Sequence", "\(expected)")] }
        request(
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
        request(Self.leaseSubject + key, headers: headers, [], within: .seconds(2)) { _ in }
      case .began(let partition, _): beginning.insert(partition)
      case .ended(let partition):
        beginning.remove(partition)
        consumers[partition] = nil
        feed.end(partition)
      case .nameTaken: failed("another gateway that runs is called \(settings.node)")
      }
    }
    begin()
  }

  /// Asks the daemon for its positions, and begins to read the partitions that wait for them.
  private func begin() {
    guard !beginning.isEmpty, !isAskingPositions, daemon != nil else { return }
    isAskingPositions = true
    let partitions = beginning
    let (control, names) = (settings.control, Set(logs.values))
    let asked = eventLoop.makePromise(of: [RoomName: Int].self)
    asked.completeWithTask { try await Self.positions(control, names) }
    asked.futureResult.assumeIsolated().whenComplete { [self] result in
      isAskingPositions = false
      guard case .success(let positions) = result, daemon != nil else { return }
      let now = Delivery.now
      for partition in partitions where beginning.remove(partition) != nil {
        let held = positions.filter { Partition(of: $0.key) == partition }
        feed.begin(partition, held: held)
        consumers[partition] = LogConsumer(
          stream: partition.stream, filter: partition.logSubjects, at: now)
        advance(.log(partition), now)
      }
    }
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
      daemonLines = LineSplitter(maximumLength: 64 << 10)
      beginning = keeper.partitions
      begin()
    }
  }

  /// What it has not acknowledged is read again, from where it says.
  private func lostDaemon() {
    guard daemon != nil else { return }
    daemon = nil
    feed.reset()
    consumers = [:]
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
  }

  private func writeToDaemon() {
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

  private func publish() {
    guard isConnected, let nats else { return }
    for publication in appender.next(at: Delivery.now) {
      let token = token()
      let number = publication.request
      requests[token] = Request(deadline: Delivery.now + LogAppender<DeliveryReceipt>.patience) {
        [unowned self] message in
        let reply = message.flatMap { try? JSONValue(parsing: $0.bytes) }
        if reply.flatMap(LogMessage.sequence) != nil {
          for receipt in appender.stored(number) { receipt.markApplied() }
          publish()
        } else {
          appender.failed(number, at: Delivery.now)
        }
      }
      nats.publish(publication.subject, token: token, publication.body)
    }
  }

  // MARK: Status and end

  private func status(_ now: Instant) -> GatewayStatus {
    var problems: [String] = []
    if !isConnected { problems.append("no NATS server is reached: nothing is acknowledged") }
    if isConnected, now - lastWrite >= keeper.settings.duration {
      problems.append("the NATS servers take no writes: nothing is acknowledged")
    }
    if daemon == nil { problems.append("livehostd is not reached: rooms are not fed") }
    if let since = appender.waitingSince, now - since >= .seconds(2) {
      problems.append(
        "the log has not answered for \((now - since).nanoseconds / 1_000_000_000) s: senders wait")
    }
    return GatewayStatus(
      node: settings.node, partitions: keeper.partitions.count,
      nodes: keeper.liveNodes(at: now).keys.sorted(), stored: appender.stored,
      repeated: appender.repeated, waitingBytes: appender.bytes, fed: feed.delivered,
      duplicates: feed.duplicates, unreadable: feed.unreadable, feedingBytes: feed.bytes,
      problems: problems)
  }

  /// Gives up all partitions, so that others have them at once.
  package func drain() { perform(keeper.drain()) }

  package func stop() {
    isStopped = true
    daemon?.close(promise: nil)
    daemon = nil
    nats?.close()
    nats = nil
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
