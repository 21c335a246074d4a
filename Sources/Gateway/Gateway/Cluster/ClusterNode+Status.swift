import RateLimiting

extension ClusterNode {
  /// What is wrong.
  func problems(_ now: Instant) -> [Problem] {
    var problems: [Problem] = []
    if !requests.isConnected {
      problems.append(
        Problem("connection", "no NATS server is reached: nothing is acknowledged"))
    } else if now - lastWrite >= keeper.settings.duration, keeper.isTiming {
      problems.append(
        Problem("writes", "the NATS servers take no writes: nothing is acknowledged"))
    } else if keeper.drainReasons.contains(.slow) {
      let milliseconds = keeper.timing.newest.nanoseconds / 1_000_000
      problems.append(
        Problem(
          "slow",
          "the NATS servers answer after \(milliseconds) ms, too late for leases: this node takes no rooms"
        ))
    }
    if !daemon.isConnected {
      problems.append(
        Problem(
          "daemon",
          keeper.isDraining
            ? "livehostd is not reached: other nodes have its rooms"
            : "livehostd is not reached: rooms are not fed"))
    }
    if let since = appender.waitingSince, now - since >= .seconds(2) {
      let seconds = (now - since).nanoseconds / 1_000_000_000
      let reasons = refusals.sorted { $0.key < $1.key }.map { "\($0): \($1)" }
      problems.append(
        Problem(
          "log",
          reasons.isEmpty
            ? "the log has not answered for \(seconds) s: senders wait"
            : "the log takes no messages for \(seconds) s (\(reasons.joined(separator: "; "))): senders wait"
        ))
    }
    // Once or twice is nothing: a server or the daemon may be starting.
    for (partition, failure) in loadFailures.sorted(by: { $0.key < $1.key })
    where failure.count >= 4 {
      problems.append(
        Problem(
          "partition \(partition)",
          "the rooms of partition \(partition) cannot be loaded, and are not fed: \(failure.reason)"
        ))
    }
    problems += streamProblems.map { Problem($0, $0) }
    return problems + snapshots.problems()
  }

  /// What it is doing.
  func status(_ now: Instant, _ problems: [Problem]) -> GatewayStatus {
    GatewayStatus(
      node: settings.node, partitions: keeper.partitions.count,
      nodes: keeper.liveNodes(at: now).keys.sorted(),
      idle: keeper.idleNodes(at: now).keys.sorted(),
      isDrained: keeper.drainReasons.contains(.asked), stored: appender.stored,
      repeated: appender.repeated, waitingBytes: appender.bytes, fed: feed.delivered,
      duplicates: feed.duplicates, unreadable: feed.unreadable, feedingBytes: feed.bytes,
      acts: snapshots.acts, snapshotsStored: snapshots.stored, snapshotsLoaded: snapshots.loaded,
      snapshotsFailed: snapshots.failed, snapshotsUnusable: snapshots.unusable,
      problems: problems.map(\.text) + snapshots.unusable(at: now))
  }
}
