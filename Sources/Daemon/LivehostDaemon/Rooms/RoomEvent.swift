package import LiveEvents
import Logging
import Systemd

/// A change of a room that is reported to the daemon's observers.
package enum RoomEvent: Sendable {
  case opened
  /// A room was restored with the state that it had when the daemon stopped.
  case restored
  case closed
  /// The room was saved because the daemon stops; the next start restores it.
  case suspended
  /// The room hibernates: it was idle, and only its compressed state stays in memory.
  case hibernated
  /// The hibernated room was restored from memory.
  case woken
  /// A slider was set to a final value.
  case committed(control: String, value: Double)
  /// Something failed that no caller waits for.
  case failed(String)
}

/// Receives changes of rooms, on any thread, often on a lane; must return quickly.
package typealias RoomObserver = @Sendable (RoomName, RoomEvent) -> Void

extension RoomEvent {
  /// Writes the change to the journal, unless administrators do not need to know of it.
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
    // Suspended rooms are open again as soon as the daemon runs again.
    case .suspended: break
    // Users do not notice hibernation.
    case .hibernated, .woken: break
    }
  }
}
