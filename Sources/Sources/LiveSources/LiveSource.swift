package import LiveEvents
package import NIOCore
package import RateLimiting

/// What a source tells the program that runs it.
package struct SourceEvents {
  /// The status of a channel, or whatever the source reads, has changed.
  package var changed: (_ channel: String, SourceStatus) -> Void = { _, _ in }
  /// Nothing was heard of a channel for a time.
  package var missed: (_ channel: String, SourceGap) -> Void = { _, _ in }
  /// It has ended by itself.
  package var failed: (SourceError) -> Void = { _ in }

  package init() {}
}

/// A source of events: a class around a value that decides. Belongs to one event loop.
package protocol LiveSource: AnyObject {
  var events: SourceEvents { get set }
  /// What it tells the daemon through.
  var delivery: Delivery { get }
  /// Events that were forwarded, and copies that were not.
  var forwarded: Int { get }
  var duplicates: Int { get }
  /// Requests that were refused, of a source that takes them.
  var refused: Int { get }

  func start()
  /// Ends all connections. The rooms are told that the source has ended, unless it was refused.
  func stop()
}

extension LiveSource {
  package var refused: Int { 0 }

  /// Tells the daemon and the program the status of a channel, which has a room of its own.
  package func tell(_ status: SourceStatus, of channel: String, in room: RoomName) {
    delivery.report(status, in: room)
    events.changed(channel, status)
  }

  /// Tells the daemon and the program of a gap.
  package func tell(_ gap: SourceGap, of channel: String, in room: RoomName) {
    delivery.report(gap, in: room)
    events.missed(channel, gap)
  }
}

/// Calls a source when its next deadline has come, until it stops. Belongs to one event loop.
package final class SourceTimer {
  private var scheduled: Scheduled<Void>?
  private var time: Instant?
  /// Whether the source has stopped. It does nothing any more then, whoever calls it: a task that is due cannot be
  /// cancelled, and the delivery works on.
  package private(set) var isStopped = false

  package init() {}

  /// Sets the only deadline; `nil` for none. `body` sets the next one.
  package func set(
    _ deadline: Instant?, on eventLoop: any EventLoop, _ body: @escaping () -> Void
  ) {
    guard !isStopped, deadline != time else { return }
    scheduled?.cancel()
    time = deadline
    scheduled = deadline.map { deadline in
      let delay = max(0, (deadline - Delivery.now).nanoseconds)
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
