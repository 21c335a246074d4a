package import LiveEvents
import Logging
import Systemd

/// Something that happened to a room and that the daemon takes note of.
package enum RoomEvent: Sendable {
  /// A new room was opened.
  case opened
  /// A room was opened with the state that the last run of the daemon kept.
  case restored
  /// It was closed for good.
  case closed
  /// The daemon stops; the room comes back at the next start.
  case suspended
  /// It is idle, and keeps its state only.
  case packed
  /// It is whole again.
  case unpacked
  /// A slider value was committed.
  case committed(control: String, value: Double)
  /// Something failed, and there is no caller to tell.
  case failed(String)
}

/// Receives what happens to rooms, on any thread, often on a lane: must return quickly.
package typealias RoomObserver = @Sendable (RoomName, RoomEvent) -> Void

extension RoomEvent {
  /// Writes it to the journal, if it belongs there.
  func log(_ room: RoomName, to logger: Logger) {
    var metadata: Logger.Metadata = ["room": "\(room)"]
    switch self {
    case .opened: logger.log(.roomOpened, "room \(room) opened", metadata: metadata)
    case .restored:
      logger.log(
        .roomOpened, "room \(room) opened with the state from before the restart",
        metadata: metadata)
    case .closed: logger.log(.roomClosed, "room \(room) closed", metadata: metadata)
    case .committed(let control, let value):
      metadata.merge(
        ["feature": "control", "control": "\(control)", "value": "\(value)"],
        uniquingKeysWith: { $1 })
      logger.log(.sliderCommitted, "room \(room): \(control) is \(value)", metadata: metadata)
    case .failed(let problem): logger.error("room \(room): \(problem)", metadata: metadata)
    // A suspended room is open again as soon as the daemon runs again.
    case .suspended: break
    // Nobody can tell the difference.
    case .packed, .unpacked: break
    }
  }
}
