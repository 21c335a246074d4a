package import LiveEvents
package import NIOCore
package import RateLimiting

/// The callbacks from a source to the program that runs it.
package struct SourceEvents {
  /// Called when the status of a channel has changed. A source reads one or more channels.
  package var changed: (_ channel: String, SourceStatus) -> Void = { _, _ in }
  /// Called after an outage of a channel, with the interval that was missed.
  package var missed: (_ channel: String, SourceGap) -> Void = { _, _ in }
  /// Called when the source has ended because of an error.
  package var failed: (SourceError) -> Void = { _ in }

  package init() {}
}

/// A source of events: runs a state machine with real sockets and a real clock. Belongs to one
/// event loop.
package protocol LiveSource: AnyObject {
  var events: SourceEvents { get set }
  /// The connection to the daemon.
  var delivery: SourceDelivery { get }
  /// The number of forwarded events, and the number of duplicates that were dropped.
  var forwarded: Int { get }
  var duplicates: Int { get }
  /// The number of refused requests, if the source serves requests.
  var refused: Int { get }

  func start()
  /// Closes all connections. Reports the state `ended` to the rooms, unless the platform refused
  /// the source.
  func stop()
}

extension LiveSource {
  package var refused: Int { 0 }

  /// Reports the status of a channel in `room` to the daemon and the program.
  package func report(_ status: SourceStatus, of channel: String, in room: RoomName) {
    delivery.report(status, in: room)
    events.changed(channel, status)
  }

  /// Reports an outage of a channel in `room` to the daemon and the program.
  package func report(_ gap: SourceGap, of channel: String, in room: RoomName) {
    delivery.report(gap, in: room)
    events.missed(channel, gap)
  }
}

/// Calls a source at its next deadline until it stops. Belongs to one event loop.
package final class SourceTimer {
  private var scheduled: Scheduled<Void>?
  private var time: Instant?
  /// Whether the source has stopped. A stopped source must ignore all calls, because a task that is
  /// already due cannot be cancelled, and because the delivery still calls the source.
  package private(set) var isStopped = false

  package init() {}

  /// Calls `body` at this deadline, which replaces the previous one; `nil` only cancels the
  /// previous one. `body` must set the next deadline.
  package func set(
    _ deadline: Instant?, on eventLoop: any EventLoop, _ body: @escaping () -> Void
  ) {
    guard !isStopped, deadline != time else { return }
    scheduled?.cancel()
    time = deadline
    scheduled = deadline.map { deadline in
      let delay = max(0, (deadline - SourceDelivery.now).nanoseconds)
      return eventLoop.assumeIsolated().scheduleTask(in: .nanoseconds(delay)) { [self] in
        guard !isStopped else { return }
        time = nil
        body()
      }
    }
  }

  package func stop() {
    isStopped = true
    scheduled?.cancel()
    scheduled = nil
  }
}
