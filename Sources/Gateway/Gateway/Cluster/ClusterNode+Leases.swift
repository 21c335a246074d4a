import JSON
import LiveSources
import NatsClient
import RateLimiting

// What the keeper of leases wants done.
extension ClusterNode {
  func perform(_ actions: [LeaseKeeper.Action]) {
    for action in actions {
      switch action {
      case .put(let key, let value, let expected, let number):
        var headers: [(String, String)] = []
        if let expected { headers = [("Nats-Expected-Last-Subject-Sequence", "\(expected)")] }
        requests.request(
          ClusterStreams.leaseSubject + key, headers: headers, value.serialized(),
          within: .seconds(2)
        ) { [unowned self] message in
          let now = Delivery.now
          guard let reply = message.flatMap({ try? JSONValue(parsing: $0.bytes) }) else {
            return perform(keeper.failed(number, at: now))
          }
          if let sequence = LogMessage.sequence(of: reply) {
            lastWrite = now
            // It hears its own writes too, unless the servers have begun a new bucket behind its back.
            if now - lastHeard >= keeper.settings.duration { watchAnew(now) }
            perform(keeper.answered(number, sequence: sequence, at: now))
          } else if [10071, 10164].contains(reply["error"]?["err_code"]?.integerValue ?? 0) {
            perform(keeper.answered(number, sequence: nil, at: now))
          } else {
            perform(keeper.failed(number, at: now))
          }
        }
      case .delete(let key, let expected):
        var headers = [("KV-Operation", "DEL")]
        if expected > 0 { headers.append(("Nats-Expected-Last-Subject-Sequence", "\(expected)")) }
        requests.request(ClusterStreams.leaseSubject + key, headers: headers, within: .seconds(2)) {
          _ in
        }
      case .began(let partition, _): beginning.insert(partition)
      case .ended(let partition):
        beginning.remove(partition)
        loadFailures[partition] = nil
        snapshots.forget(partition)
        endReading(partition)
      case .nameTaken: failed(.nameTaken(settings.node))
      }
    }
    begin()
  }
}
