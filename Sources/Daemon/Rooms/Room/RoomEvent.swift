package import LiveEvents
package import Logging
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
  /// An act on a platform has an outcome.
  case acted(RequestedAct, RequestOutcome)
  /// Something failed that no caller waits for.
  case failed(String)
}

/// Receives changes of rooms, on any thread, often on a lane; must return quickly.
package typealias RoomObserver = @Sendable (RoomName, RoomEvent) -> Void

extension RoomEvent {
  /// Writes the change to the journal, unless administrators do not need to know of it.
  package func log(_ room: RoomName, to logger: Logger) {
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
    case .acted(let act, let outcome):
      metadata.merge(act.metadata(outcome), uniquingKeysWith: { $1 })
      logger.log(.actEnded, "room \(room): \(act.entry(outcome))", metadata: metadata)
    case .failed(let problem): logger.error("room \(room): \(problem)", metadata: metadata)
    // Suspended rooms are open again as soon as the daemon runs again.
    case .suspended: break
    // Users do not notice hibernation.
    case .hibernated, .woken: break
    }
  }
}

extension RequestedAct {
  private var place: String? {
    let names = [platform, source].compactMap { $0.map { String($0) } }
    return names.isEmpty ? nil : names.joined(separator: "/")
  }

  /// The text of the journal entry, which is the same for all acts of a kind. It contains no text
  /// from people.
  fileprivate func entry(_ outcome: RequestOutcome) -> String {
    let words = [act.kind.rawValue, by.map { "by \($0)" }, place.map { "on \($0)" }]
    return words.compactMap { $0 }.joined(separator: " ") + ": " + outcome.entry
  }

  fileprivate func metadata(_ outcome: RequestOutcome) -> Logger.Metadata {
    let fields: [String: String?] = [
      "kind": act.kind.rawValue, "result": outcome.name, "reason": outcome.reason,
      "by": by.map { String($0) }, "platform": platform.map { String($0) },
      "source": source.map { String($0) },
      "subject": (act.message ?? act.person?.id).map { String($0) },
    ]
    return fields.compactMapValues { $0.map { "\($0)" } }
  }
}

extension RequestOutcome {
  fileprivate var name: String {
    switch self {
    case .confirmed: "confirmed"
    case .sent: "sent"
    case .refused: "refused"
    }
  }

  fileprivate var entry: String { reason.map { "\(name): \($0)" } ?? name }
}
