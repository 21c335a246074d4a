import JSON
import LiveSources
import RateLimiting

/// Checks the NATS servers and creates the streams of a cluster. Every gateway runs this, and
/// repeating it has no effect.
struct ClusterStreams {
  static let leases = "KV_lh_lease"
  static let leaseSubject = "$KV.lh_lease."

  let calls: NatsCalls
  let replicas: Int

  struct Streams: Sendable {
    /// For each stream of the log, the name that daemons use for it, which consists of the stream's
    /// name and its creation time.
    var logs: [String: String] = [:]
    /// Problems with the streams that only an administrator can solve.
    var problems: [String] = []
  }

  func make() async throws -> Streams {
    guard (try await information()["api"]?["level"]?.integerValue ?? 0) >= 1 else {
      throw ClusterError.oldServer
    }
    var made = Streams()
    for index in 0..<Partition.streamCount {
      let name = Partition.stream(index)
      let subjects = Partition.all.filter { $0.stream == name }.map(\.logSubjects)
      let log = try await make(
        name,
        [
          "subjects": .array(subjects.map { .string($0) }), "retention": "limits",
          "storage": "file", "discard": "old", "max_age": .integer(86_400_000_000_000),
          "max_msg_size": .integer(1 << 20), "duplicate_window": .integer(120_000_000_000),
          "deny_delete": true, "allow_direct": false,
        ])
      made.logs[name] = "log/\(name)/\(log["created"]?.stringValue ?? "")"
    }
    _ = try await make(
      SnapshotHeader.stream,
      [
        "subjects": ["lh.snap.>"], "retention": "limits", "storage": "file", "discard": "old",
        "max_msgs_per_subject": 2, "max_msg_size": .integer(1 << 20), "deny_delete": true,
        "allow_direct": true,
      ])
    // The leases are stored in files, although each lasts only seconds. If the stream were in
    // memory, a restarted server would begin with an empty log, and could not vote until a leader
    // had filled that log. Then two of three servers might be unable to elect a leader.
    let leases = try await make(
      Self.leases,
      [
        "subjects": [.string(Self.leaseSubject + ">")], "retention": "limits",
        "storage": "file", "discard": "new", "max_msgs_per_subject": 1,
        "max_age": .integer(3_000_000_000), "duplicate_window": .integer(3_000_000_000),
        "deny_delete": true, "allow_rollup_hdrs": true, "allow_direct": false,
      ])
    if leases["config"]?["storage"]?.stringValue == "memory" {
      made.problems.append(
        "the stream \(Self.leases) is in memory: while one server is down and another restarts,"
          + " rooms may have no owner; remove the stream, then restart all gateways, which create"
          + " it again"
      )
    }
    return made
  }

  /// Waits until the servers have a leader, and returns their account information. Servers that
  /// have just started need some seconds to elect a leader; until then they answer with an error or
  /// not at all.
  private func information() async throws -> JSONValue {
    let deadline = SourceDelivery.now + .seconds(30)
    while SourceDelivery.now < deadline {
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

  /// The error code of JetStream for "JetStream system temporarily unavailable".
  private static let notAvailable: Int64 = 10008

  /// Creates a stream, and returns the servers' description of it, which includes its `config` and
  /// its creation time `created`.
  private func make(_ name: String, _ settings: [JSONName: JSONValue]) async throws -> JSONValue {
    var settings = settings
    settings["name"] = .string(name)
    settings["num_replicas"] = .integer(Int64(replicas))
    var last = "no answer"
    // Servers that have just started have no leader yet.
    let deadline = SourceDelivery.now + .seconds(60)
    while SourceDelivery.now < deadline {
      let reply = try await calls.ask("$JS.API.STREAM.CREATE.\(name)", .object(settings))
      if let reply, reply["created"]?.stringValue != nil { return reply }
      if let error = reply?["error"] {
        last = error["description"]?.stringValue ?? "\(error)"
        // "replicas > 1 not supported in non-clustered mode" is permanent.
        if error["err_code"]?.integerValue == 10074 { throw ClusterError.tooFewServers(replicas) }
        // An administrator has already created a stream with this name and different settings, for
        // example a larger limit.
        if error["err_code"]?.integerValue == 10058 {
          let known = try await calls.ask("$JS.API.STREAM.INFO.\(name)")
          if let known, known["created"]?.stringValue != nil { return known }
        }
      }
      try await Task.sleep(for: .milliseconds(500))
    }
    throw ClusterError.stream(name, last)
  }
}

/// The reason why a gateway cannot start or continue.
package enum ClusterError: Error, Equatable, Sendable {
  case noJetStream
  /// The servers have not elected a leader within half a minute.
  case noLeader
  /// A server is older than version 2.11.
  case oldServer
  case stream(String, String)
  /// A single server cannot store this number of replicas.
  case tooFewServers(Int)
  /// Another running gateway has this name.
  case nameTaken(String)
  /// The servers no longer accept this client's connections; the associated value is the reason.
  case closed(String)
}
