package import JSON
package import LiveEvents
package import RateLimiting

/// What a source says of itself. Only the newest counts.
package struct SourceStatus: Equatable, Sendable {
  package var state: SourceHealth.Connection
  /// Why, for people; `nil` if there is nothing to say.
  package var reason: String?
  /// How far what is delivered lags behind what was received.
  package var behindMilliseconds: Int?
  /// Messages known to be lost, and those that arrived more than once.
  package var lost = 0
  package var duplicate = 0
  /// Messages of gaps that were got afterwards.
  package var backfilled = 0
  /// Messages and deliveries of which nothing could be shown.
  package var notShown = 0

  package init(_ state: SourceHealth.Connection, reason: String? = nil) {
    self.state = state
    self.reason = reason
  }
}

/// A time in which a source could not listen. Messages of that time are missing.
package struct SourceGap: Equatable, Sendable {
  /// Milliseconds since 1970.
  package var from: Int
  package var to: Int
  package var reason: String

  package init(from: Int, to: Int, reason: String) {
    self.from = from
    self.to = to
    self.reason = reason
  }

  package init(from: Instant, to: Instant, reason: String) {
    // The clock may be set back meanwhile.
    let start = Delivery.wallTime(from)
    self.init(from: start, to: max(start, Delivery.wallTime(to)), reason: reason)
  }
}

/// The native lines that a source writes, without their ends.
package enum SourceLine {
  /// Makes every later line of the connection count for a room, if one is given, and come from this source.
  ///
  /// - Parameter platform: `nil` if each event says so itself, or none of them is of a platform.
  package static func options(room: RoomName?, source: String, platform: String?) -> [UInt8] {
    JSONWriter.object(type: "options") {
      $0.add("room", room?.description)
      $0.add("platform", platform)
      $0.add("source", source)
    }
  }

  /// - Parameter time: milliseconds since 1970.
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

  /// A message of a chat whose platform gives nothing but a name and a text.
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

  /// Any event.
  ///
  /// - Parameter time: milliseconds since 1970.
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
