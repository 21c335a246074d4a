import JSON
import LiveSources
import NatsClient
import RateLimiting

// What comes from the servers: the leases, and the log of this node's partitions.
extension ClusterNode {
  enum Reader: Hashable { case leases, log(Partition) }

  func disconnected() {
    let now = Delivery.now
    keeper.forgetRequests()
    requests.disconnected()
    pulls = [:]
    appender.disconnected()
    watchAnew(now)
    for partition in consumers.keys { consumers[partition]?.disconnected(at: now) }
  }

  /// Begins to read the leases anew.
  func watchAnew(_ now: Instant) {
    keeper.lostSight()
    lastHeard = now
    watch = LogConsumer(
      stream: ClusterStreams.leases, filter: ClusterStreams.leaseSubject + ">", isLastOnly: true,
      at: now)
  }

  func receive(_ message: NatsMessage) {
    if message.reply?.hasPrefix("$JS.ACK.") == true {
      if message.subject.hasPrefix(ClusterStreams.leaseSubject) {
        return read(message, of: .leases)
      }
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
      let (status, reason) = (message.status ?? 0, message.description ?? "")
      switch reader {
      case .leases:
        watch.ended(status: status, reason: reason, at: now)
        noteCurrent(now)
      case .log(let partition):
        consumers[partition]?.ended(status: status, reason: reason, at: now)
      }
      return advance(reader, now)
    }
    switch reader {
    case .leases:
      if let place = watch.received(reply: reply, at: now) {
        lastHeard = now
        let key = String(message.subject.dropFirst(ClusterStreams.leaseSubject.count))
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
  func advance(_ reader: Reader, _ now: Instant) {
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
}
