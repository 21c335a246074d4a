import RateLimiting

extension ClusterNode {
  /// What it is doing, and what is wrong.
  func status(_ now: Instant) -> GatewayStatus {
    var problems: [String] = []
    if !requests.isConnected {
      problems.append("no NATS server is reached: nothing is acknowledged")
    } else if now - lastWrite >= keeper.settings.duration, keeper.isTiming {
      problems.append("the NATS servers take no writes: nothing is acknowledged")
    } else if keeper.drainReasons.contains(.slow) {
      let milliseconds = keeper.timing.newest.nanoseconds / 1_000_000
      problems.append(
        "the NATS servers answer after \(milliseconds) ms, too late for leases: this node takes no rooms"
      )
    }
    if !daemon.isConnected {
      problems.append(
        keeper.isDraining
          ? "livehostd is not reached: other nodes have its rooms"
          : "livehostd is not reached: rooms are not fed")
    }
    if let since = appender.waitingSince, now - since >= .seconds(2) {
      problems.append(
        "the log has not answered for \((now - since).nanoseconds / 1_000_000_000) s: senders wait")
    }
    problems += streamProblems + snapshots.problems
    return GatewayStatus(
      node: settings.node, partitions: keeper.partitions.count,
      nodes: keeper.liveNodes(at: now).keys.sorted(),
      isDrained: keeper.drainReasons.contains(.asked), stored: appender.stored,
      repeated: appender.repeated, waitingBytes: appender.bytes, fed: feed.delivered,
      duplicates: feed.duplicates, unreadable: feed.unreadable, feedingBytes: feed.bytes,
      acts: snapshots.acts, snapshotsStored: snapshots.stored, snapshotsLoaded: snapshots.loaded,
      snapshotsFailed: snapshots.failed, snapshotsUnusable: snapshots.unusable,
      problems: problems)
  }
}
