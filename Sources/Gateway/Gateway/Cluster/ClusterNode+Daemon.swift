// What goes to the local daemon, and what it acknowledges.
extension ClusterNode {
  /// Connects to the daemon, if it is away.
  func connectToDaemon() {
    daemon.connect(
      .init(
        connected: { [self] in
          beginning = keeper.partitions
          perform(keeper.resume(.noDaemon))
        },
        acknowledged: { [self] tokens in
          for token in tokens { feed.acknowledge(token) }
          carryOut()
          writeToDaemon()
        },
        writable: { [self] in writeToDaemon() },
        lost: { [self] in lostDaemon() }))
  }

  /// What it has not acknowledged is read again, from where it says.
  private func lostDaemon() {
    feed.reset()
    consumers = [:]
    catchingUp = []
    stored = [:]
    loadFailures = [:]
    beginning = keeper.partitions
    // It may come back with less than it had.
    for partition in beginning { keeper.note(partition, isLoading: true) }
  }

  func writeToDaemon() {
    guard daemon.isWritable, let bytes = feed.nextWrite() else { return }
    daemon.write(bytes)
  }
}
