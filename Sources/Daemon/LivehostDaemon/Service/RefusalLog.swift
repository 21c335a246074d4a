import Locking
package import Logging
package import NIOCore
import SystemSupport
import Systemd
package import UnixSockets

/// Logs refusals of clients, summed up to at most one entry per resource and ``interval``. Confined
/// to one event loop.
package final class RefusalLog: Sendable {
  package static let interval = TimeAmount.seconds(10)

  private let logger: Logger
  private let refusals: @Sendable () -> RefusalCounts
  private let logged = Guarded(RefusalCounts())
  private let task = Guarded<RepeatedTask?>(nil)

  /// - Parameter refusals: Returns the counts of refusals since the daemon started.
  package init(logger: Logger, refusals: @escaping @Sendable () -> RefusalCounts) {
    self.logger = logger
    self.refusals = refusals
  }

  /// Starts logging: the first time after one second, then every ``interval``.
  package func start(on eventLoop: any EventLoop) {
    let repeated = eventLoop.scheduleRepeatedTask(
      initialDelay: .seconds(1), delay: Self.interval
    ) { _ in self.logNew() }
    task.withLock { $0 = repeated }
  }

  /// Stops logging, and first logs the refusals that are not logged yet.
  package func stop() {
    task.withLock { $0 }?.cancel()
    logNew()
  }

  private func logNew() {
    let present = refusals()
    let new = logged.withLock { logged in
      defer { logged = present }
      return present.total > logged.total ? present.since(logged) : []
    }
    for resource in RefusedResource.allCases {
      let rows = new.filter { $0.row.resource == resource }
      guard let most = rows.max(by: { $0.count < $1.count }) else { continue }
      let count = rows.reduce(0) { $0 + $1.count }
      let user = most.row.user.map { "user \($0)" } ?? "users without a separate count"
      let others = rows.count > 1 ? ", most of them to \(user)" : " to \(user)"
      var metadata: Logger.Metadata = ["resource": "\(resource.rawValue)", "count": "\(count)"]
      if rows.count == 1 { metadata["user"] = most.row.user.map { "\($0)" } }
      logger.log(
        .clientRefused,
        "\(resource.explanation): refused \(count == 1 ? "once" : "\(count) times")\(others)",
        metadata: metadata)
    }
  }
}

extension RefusedResource {
  fileprivate var explanation: String {
    switch self {
    case .connection: "connections to the control socket beyond control.connections"
    case .ingestConnection: "connections to the ingest socket beyond ingest.connections"
    case .ingestPermission: "connections to the ingest socket without permission to send events"
    case .idleConnection: "idle connections, closed to admit other clients"
    case .monitor: "calls with the more flag beyond control.monitors"
    case .callLength: "calls longer than 16 KiB from users without rights"
    case .unfinishedCall: "calls that were never completed"
    case .memory: "memory for calls and replies, reclaimed for other clients"
    }
  }
}
