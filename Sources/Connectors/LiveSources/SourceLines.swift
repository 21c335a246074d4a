package import JSON
package import LiveEvents
package import RateLimiting

/// The status of a source, which replaces its previous status.
package struct SourceStatus: Equatable, Sendable {
  package var state: SourceHealth.Connection
  /// A human-readable reason for the state, if there is one.
  package var reason: String?
  /// How long the oldest unacknowledged message has waited, in milliseconds.
  package var behindMilliseconds: Int?
  /// The number of messages known to be lost. ``duplicate`` counts repeated messages.
  package var lost = 0
  package var duplicate = 0
  /// The number of messages retrieved after an outage.
  package var backfilled = 0
  /// The number of messages and deliveries without any content to show.
  package var notShown = 0

  package init(_ state: SourceHealth.Connection, reason: String? = nil) {
    self.state = state
    self.reason = reason
  }
}

/// An interval during which a source received nothing, so messages are missing.
package struct SourceGap: Equatable, Sendable {
  /// The start in milliseconds since 1970.
  package var from: Int
  package var to: Int
  package var reason: String

  package init(from: Int, to: Int, reason: String) {
    self.from = from
    self.to = to
    self.reason = reason
  }

  package init(from: Instant, to: Instant, reason: String) {
    // The clock may have been set back during the outage.
    let start = SourceDelivery.wallTime(from)
    self.init(from: start, to: max(start, SourceDelivery.wallTime(to)), reason: reason)
  }
}

/// Encodes lines of the native format that sources write, without line endings.
package enum SourceLine {
  /// Returns the line that names the source of all later events, and optionally their room and
  /// default platform.
  package static func options(room: RoomName?, source: String, platform: String?) -> [UInt8] {
    JSONWriter.object(type: "options") {
      $0.add("room", room?.description)
      $0.add("platform", platform)
      $0.add("source", source)
    }
  }

  /// Returns the line that reports a source's status at `time`, in milliseconds since 1970.
  package static func state(
    _ status: SourceStatus, source: String, platform: String, room: RoomName, at time: Int
  ) -> [UInt8] {
    JSONWriter.object(type: "source.state") {
      $0.add("room", room.description)
      $0.add("ts", time)
      $0.add("source", source)
      $0.add("state", status.state.rawValue)
      $0.add("platform", platform)
      $0.add("reason", status.reason)
      $0.add("behindMs", status.behindMilliseconds)
      $0.add("lost", status.lost)
      $0.add("duplicate", status.duplicate)
      $0.add("backfilled", status.backfilled > 0 ? status.backfilled : nil)
      $0.add("notShown", status.notShown > 0 ? status.notShown : nil)
    }
  }

  package static func gap(_ gap: SourceGap, source: String, room: RoomName) -> [UInt8] {
    JSONWriter.object(type: "gap") {
      $0.add("room", room.description)
      $0.add("ts", gap.to)
      $0.add("source", source)
      $0.add("from", gap.from)
      $0.add("to", gap.to)
      $0.add("reason", gap.reason)
    }
  }

  /// Returns a chat message from a platform that provides only a name and a text.
  package static func message(id: String, user: String, text: String, room: RoomName) -> [UInt8] {
    JSONWriter.object(type: "chat.message") {
      $0.add("room", room.description)
      $0.add("id", id)
      $0.name("user")
      $0.appendObject {
        $0.add("id", user)
        $0.add("name", user)
      }
      $0.add("text", text)
    }
  }

  /// Returns an event of any type at `time`, in milliseconds since 1970.
  package static func event(
    _ type: String, room: RoomName, at time: Int, _ body: (inout JSONWriter) -> Void
  ) -> [UInt8] {
    JSONWriter.object(type: type) {
      $0.add("room", room.description)
      $0.add("ts", time)
      body(&$0)
    }
  }
}
