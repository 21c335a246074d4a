import JSON
import LiveSources
import RateLimiting

// The exchange with the NATS servers: leases, and messages of the streams that the node reads.
extension ClusterNode {
  /// JetStream's error codes for a write that was rejected because the last sequence is not the
  /// expected one.
  private static let wrongSequence: Set<Int64> = [10071, 10164]

  func perform(_ actions: [LeaseKeeper.Action]) {
    for action in actions {
      switch action {
      case .put(let key, let value, let expected, let request):
        write(key, value, expected, request)
      case .delete(let key, let expected):
        var headers = [("KV-Operation", "DEL")]
        if expected > 0 { headers.append(("Nats-Expected-Last-Subject-Sequence", "\(expected)")) }
        requests.request(ClusterStreams.leaseSubject + key, headers: headers, within: .seconds(2)) {
          _ in
        }
      case .began(let partition, _): takeovers.begin(partition)
      case .ended(let partition):
        takeovers.end(partition)
        counts.forget(partition)
        endReading(partition)
      case .nameTaken: failed(.nameTaken(settings.node))
      }
    }
    load()
  }

  private func write(_ key: String, _ value: JSONValue, _ expected: UInt64?, _ request: Int) {
    var headers: [(String, String)] = []
    if let expected { headers = [("Nats-Expected-Last-Subject-Sequence", "\(expected)")] }
    requests.request(
      ClusterStreams.leaseSubject + key, headers: headers, value.serialized(), within: .seconds(2)
    ) { [unowned self] message in
      let now = SourceDelivery.now
      guard let reply = message.flatMap({ try? JSONValue(parsing: $0.bytes) }) else {
        return perform(keeper.failed(request, at: now))
      }
      if let sequence = LogMessage.sequence(of: reply) {
        problems.recordWrite(at: now)
        // The watch also reports this node's own writes. If no reports arrive, the servers have
        // replaced the bucket with a new one.
        if now - readers.lastLease >= keeper.settings.duration {
          keeper.lostSight()
          readers.watchAnew(at: now)
        }
        perform(keeper.answered(request, sequence: sequence, at: now))
      } else if Self.wrongSequence.contains(reply["error"]?["err_code"]?.integerValue ?? 0) {
        perform(keeper.answered(request, sequence: nil, at: now))
      } else {
        perform(keeper.failed(request, at: now))
      }
    }
  }

  func receive(_ message: NatsMessage) {
    if !message.isFromStream, requests.answer(message) { return }
    guard let reader = readers.reader(of: message) else { return }
    let now = SourceDelivery.now
    if let metadata = readers.receive(message, by: reader, at: now) {
      switch reader {
      case .leases:
        let key = String(message.subject.dropFirst(ClusterStreams.leaseSubject.count))
        let value = message.bytes.isEmpty ? nil : try? JSONValue(parsing: message.bytes)
        perform(
          keeper.observed(
            key: key, value: value, sequence: metadata.sequence, written: metadata.written,
            at: now))
      case .log(let partition):
        if let room = Partition.room(ofLogSubject: message.subject),
          let log = logs[partition.stream]
        {
          feed.received(
            message.bytes, sequence: metadata.sequence, room: room, partition: partition,
            log: log, at: now)
          feedDaemon()
        }
      }
    }
    recordCurrent(reader, now)
    advance(reader, now)
  }

  private func recordCurrent(_ reader: StreamReaders.Reader, _ now: Instant) {
    if reader == .leases, readers.hasAllLeases { keeper.becameCurrent(at: now) }
  }

  func advance(_ reader: StreamReaders.Reader, _ now: Instant) {
    guard requests.isConnected else { return }
    switch readers.next(reader, isPaused: feed.isFull, at: now) {
    case .create(let subject, let body):
      requests.request(subject, body.serialized(), within: .seconds(4)) {
        [unowned self] message in
        let reply = message.flatMap { try? JSONValue(parsing: $0.bytes) }
        let now = SourceDelivery.now
        readers.created(reply, for: reader, at: now)
        recordCurrent(reader, now)
        if reply != nil { advance(reader, now) }
      }
    case .pull(let subject, let body):
      let token = requests.token()
      readers.pull(reader, to: token)
      requests.publish(subject, token: token, body.serialized())
    case nil: break
    }
  }
}
