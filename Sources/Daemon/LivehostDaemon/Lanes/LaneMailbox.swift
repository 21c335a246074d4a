package import Ingest
package import LiveEvents
import NIOCore
import Platform
package import Recordings
package import WireFormats

/// Something for a room, from another thread.
package struct RoomDelivery: Sendable {
  package let room: RoomName
  package let events: [LiveEvent]
  package let rejections: RejectionCounts
  package let clock: FrameClock
  /// Told what became of the events.
  package let acknowledgement: Acknowledgement

  package init(
    room: RoomName, events: [LiveEvent], rejections: RejectionCounts = RejectionCounts(),
    clock: FrameClock = .arrival, acknowledgement: Acknowledgement
  ) {
    self.room = room
    self.events = events
    self.rejections = rejections
    self.clock = clock
    self.acknowledgement = acknowledgement
  }

  package enum Acknowledgement: Sendable {
    case receipt(DeliveryReceipt)
    /// Called with the number of rejected events once everything is applied, and with why the events are
    /// not on disk, if the room was to record them.
    case outcome(@Sendable (_ rejected: Int, _ failure: RecordingError?) -> Void)

    /// Called with the number of rejected events once everything is applied.
    package static func callback(_ body: @escaping @Sendable (_ rejected: Int) -> Void) -> Self {
      .outcome { rejected, _ in body(rejected) }
    }

    /// Whether the sender waits until everything is applied.
    var isWanted: Bool {
      switch self {
      case .receipt(let receipt): receipt.wantsAcknowledgement
      case .outcome: true
      }
    }

    /// The events are in the hands of a recorder.
    func recorded(by recorder: RoomRecorder) {
      switch self {
      case .receipt(let receipt): receipt.markKept(by: recorder)
      case .outcome: break
      }
    }

    /// The delivery is off the mailbox.
    func consumed(rejected: Int) {
      switch self {
      case .receipt(let receipt):
        receipt.markRejected(rejected)
        receipt.markConsumed()
      case .outcome: break
      }
    }

    /// Everything is applied or counted otherwise.
    ///
    /// - Parameter failure: why what a recorder was to keep is lost.
    func applied(rejected: Int, failure: RecordingError? = nil) {
      switch self {
      case .receipt(let receipt):
        if let failure { receipt.markKept(by: Lost(failureReason: failure.description)) }
        receipt.markApplied()
      case .outcome(let callback): callback(rejected, failure)
      }
    }
  }
}

/// What stands for events that nothing keeps.
private final class Lost: Durability {
  let failureReason: String?

  init(failureReason: String) { self.failureReason = failureReason }
}

extension RoomRecorder: Durability {
  package var failureReason: String? { failure?.description }
}

/// The one door from other threads into a lane: one wake-up per batch, not per delivery.
///
/// Rooms are opened and closed through the same door, so that their order among deliveries is that in
/// which they were posted.
final class LaneMailbox: Sendable {
  enum Item: Sendable {
    /// A new room, or one of an earlier run of the daemon.
    case open(RoomName, RoomSnapshot?)
    case close(RoomName, isForGood: Bool, @Sendable () -> Void)
    case delivery(RoomDelivery)
    /// Something to be done with a room; it is `nil` if there is none of that name.
    case visit(RoomName, @Sendable (Room?) -> Void)
  }

  private struct Contents: Sendable {
    var items: [Item] = []
    var isScheduled = false
  }

  private let contents = Guarded(Contents())
  private let eventLoop: any EventLoop

  init(eventLoop: any EventLoop) { self.eventLoop = eventLoop }

  /// Puts `item` in; wakes `lane` if it is not awake for this mailbox already.
  func post(_ item: Item, to lane: HostLane) {
    let mustWake = contents.withLock { contents in
      contents.items.append(item)
      defer { contents.isScheduled = true }
      return !contents.isScheduled
    }
    if mustWake { wake(lane) }
  }

  /// Has `lane` take what it has, in a turn of its own.
  func wake(_ lane: HostLane) {
    eventLoop.execute { lane.assumeIsolated { $0.drain() } }
  }

  func take() -> [Item] {
    contents.withLock { contents in
      contents.isScheduled = false
      return exchange(&contents.items, with: [])
    }
  }
}

/// Replaces a value and returns the old one.
func exchange<Value>(_ value: inout Value, with new: consuming Value) -> Value {
  let old = value
  value = new
  return old
}
