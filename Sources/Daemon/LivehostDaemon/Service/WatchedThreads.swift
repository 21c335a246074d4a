import NIOCore
import Rooms
import Systemd

extension WatchedThread {
  /// Returns all threads of the daemon that others wait for.
  ///
  /// - Parameters:
  ///   - connections: the event loops of the sockets, by the names of the sockets.
  ///   - pingJournal: makes the thread of the journal call a function; `nil` if there is none.
  static func all(
    lanes: [HostLane], connections: KeyValuePairs<String, any EventLoop>,
    _ recordings: RoomRecordings, _ snapshots: SnapshotStore,
    pingJournal: (@Sendable (Heartbeat) -> Void)?
  ) -> [WatchedThread] {
    let loops =
      lanes.map { ("lane \($0.index)", $0.eventLoop) }
      + connections.map { ("\($0.key) connections", $0.value) }
    var threads = loops.map { name, loop in
      WatchedThread(name: name) { heartbeat in loop.execute { heartbeat.beat() } }
    }
    threads += [
      WatchedThread(name: RoomRecordings.thread, duty: .storage) { heartbeat in
        recordings.ping { heartbeat.beat() }
      },
      WatchedThread(name: "snapshots", duty: .storage) { heartbeat in
        snapshots.ping { heartbeat.beat() }
      },
    ]
    if let pingJournal {
      threads.append(WatchedThread(name: "journal", duty: .log, ping: pingJournal))
    }
    return threads
  }
}
