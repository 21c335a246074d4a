import JSON
import LiveSources
import RateLimiting

/// The streams of a cluster on NATS: checks the servers and makes them, which is the same whoever does it.
struct ClusterStreams {
  static let leases = "KV_lh_lease"
  static let leaseSubject = "$KV.lh_lease."

  let calls: NatsCalls
  let replicas: Int

  struct Made: Sendable {
    /// By what each stream of the log is known: its name and when it was made.
    var logs: [String: String] = [:]
    /// What an administrator should change.
    var problems: [String] = []
  }

  func make() async throws -> Made {
    guard (try await information()["api"]?["level"]?.integerValue ?? 0) >= 1 else {
      throw ClusterError.oldServer
    }
    var made = Made()
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
    // In files, though what is in it lasts for seconds. With a stream in memory a server that restarts has an empty log, and
    // its vote does not count until a leader has filled that: two of three servers might elect none.
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
        "the stream \(Self.leases) is in memory: while one server is away and another restarts,"
          + " rooms may have no owner; remove the stream, then restart all gateways, which make it again"
      )
    }
    return made
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

  /// Returns what the servers say of the stream: among other things its `config`, and when it was `created` first.
  private func make(_ name: String, _ settings: [JSONName: JSONValue]) async throws -> JSONValue {
    var settings = settings
    settings["name"] = .string(name)
    settings["num_replicas"] = .integer(Int64(replicas))
    var last = "no answer"
    // Servers that have just started have no leader yet.
    let deadline = Delivery.now + .seconds(60)
    while Delivery.now < deadline {
      let reply = try await calls.ask("$JS.API.STREAM.CREATE.\(name)", .object(settings))
      if let reply, reply["created"]?.stringValue != nil { return reply }
      if let error = reply?["error"] {
        last = error["description"]?.stringValue ?? "\(error)"
        // "replicas > 1 not supported in non-clustered mode" does not get better by waiting.
        if error["err_code"]?.integerValue == 10074 { throw ClusterError.tooFewServers(replicas) }
        // A stream of this name with other settings, such as more bytes, is an administrator's.
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

/// Why a gateway cannot begin, or go on.
package enum ClusterError: Error, Equatable, Sendable {
  case noJetStream
  /// The servers have not agreed on one for half a minute.
  case noLeader
  /// Below 2.11.
  case oldServer
  case stream(String, String)
  /// A single server cannot keep so many copies.
  case tooFewServers(Int)
  /// Another gateway that runs has the name of this one.
  case nameTaken(String)
  /// The servers do not let this client in any more, and why.
  case closed(String)
}
