import JSON
import LiveSources
import RateLimiting

/// The streams of a cluster on NATS: checks the servers and makes them, which is the same whoever does it.
struct ClusterStreams {
  static let leases = "KV_lh_lease"
  static let leaseSubject = "$KV.lh_lease."

  let calls: NatsCalls
  let replicas: Int

  /// Returns by what each stream of the log is known: its name and when it was made.
  func make() async throws -> [String: String] {
    guard (try await information()["api"]?["level"]?.integerValue ?? 0) >= 1 else {
      throw ClusterError.oldServer
    }
    var logs: [String: String] = [:]
    for index in 0..<Partition.streamCount {
      let name = Partition.stream(index)
      let subjects = Partition.all.filter { $0.stream == name }.map(\.logSubjects)
      let created = try await make(
        name,
        [
          "subjects": .array(subjects.map { .string($0) }), "retention": "limits",
          "storage": "file", "discard": "old", "max_age": .integer(86_400_000_000_000),
          "max_msg_size": .integer(1 << 20), "duplicate_window": .integer(120_000_000_000),
          "deny_delete": true, "allow_direct": false,
        ])
      logs[name] = "log/\(name)/\(created)"
    }
    _ = try await make(
      SnapshotHeader.stream,
      [
        "subjects": ["lh.snap.>"], "retention": "limits", "storage": "file", "discard": "old",
        "max_msgs_per_subject": 2, "max_msg_size": .integer(1 << 20), "deny_delete": true,
        "allow_direct": true,
      ])
    _ = try await make(
      Self.leases,
      [
        "subjects": [.string(Self.leaseSubject + ">")], "retention": "limits",
        "storage": "memory", "discard": "new", "max_msgs_per_subject": 1,
        "max_age": .integer(3_000_000_000), "duplicate_window": .integer(3_000_000_000),
        "deny_delete": true, "allow_rollup_hdrs": true, "allow_direct": false,
      ])
    return logs
  }

  /// What the servers say of themselves, once they have a leader: those that have just started elect one for some
  /// seconds, and answer with an error or not at all so long.
  private func information() async throws -> JSONValue {
    let deadline = Delivery.now + .seconds(30)
    while Delivery.now < deadline {
      let reply = try await calls.ask("$JS.API.INFO")
      guard let error = reply?["error"] else {
        if let reply { return reply }
        continue
      }
      guard error["err_code"]?.integerValue == Self.notAvailable else {
        throw ClusterError.noJetStream
      }
      try await Task.sleep(for: .milliseconds(500))
    }
    throw ClusterError.noLeader
  }

  /// The server's error "JetStream system temporarily unavailable".
  private static let notAvailable: Int64 = 10008

  /// Returns when the stream was made first.
  private func make(_ name: String, _ settings: [JSONName: JSONValue]) async throws -> String {
    var settings = settings
    settings["name"] = .string(name)
    settings["num_replicas"] = .integer(Int64(replicas))
    var last = "no answer"
    // Servers that have just started have no leader yet.
    let deadline = Delivery.now + .seconds(60)
    while Delivery.now < deadline {
      let reply = try await calls.ask("$JS.API.STREAM.CREATE.\(name)", .object(settings))
      if let created = reply?["created"]?.stringValue { return created }
      if let error = reply?["error"] {
        last = error["description"]?.stringValue ?? "\(error)"
        // A stream of this name with other settings, such as more bytes, is an administrator's.
        if error["err_code"]?.integerValue == 10058 {
          let known = try await calls.ask("$JS.API.STREAM.INFO.\(name)")
          if let created = known?["created"]?.stringValue { return created }
        }
      }
      try await Task.sleep(for: .milliseconds(500))
    }
    throw ClusterError.stream(name, last)
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
