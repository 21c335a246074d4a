import Foundation
import Intake
import RateLimiting

/// What a room's state depends on besides its events and its time; recorded with them, so that a replay
/// comes to the same state whatever the configuration says by then.
struct RoomChange: Codable, Equatable {
  /// How long events may wait, and how much of the chat is kept: at the beginning of a recording and
  /// after each reload.
  var settings: RecordedSettings?

  init(settings: RecordedSettings) { self.settings = settings }

  /// One JSON object on one line.
  var text: String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // Nothing in it is no number, and all else can be encoded.
    return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
  }

  /// `nil` if the text tells of nothing that is known here.
  init?(text: String) {
    guard let change = try? JSONDecoder().decode(Self.self, from: Data(text.utf8)) else {
      return nil
    }
    self = change
  }
}

/// The settings of a room that its state depends on.
struct RecordedSettings: Codable, Equatable {
  struct Pacing: Codable, Equatable {
    /// Nanoseconds.
    var interval: Int64
    var maximumStaleness: Int64
    var capacity: Int
  }

  var chatHistory: Int
  /// By the names of ``ThrottledKind``.
  var throttling: [String: Pacing]

  init(_ settings: RoomSettings) {
    chatHistory = settings.chatHistory
    throttling = Dictionary(
      uniqueKeysWithValues: ThrottledKind.allCases.map { kind in
        let pacing = settings.throttling[kind]
        return (
          kind.rawValue,
          Pacing(
            interval: pacing.interval.nanoseconds,
            maximumStaleness: pacing.maximumStaleness.nanoseconds, capacity: pacing.capacity)
        )
      })
  }

  /// What no configuration could say is left at its standard: the file may be anybody's.
  var policies: ThrottlePolicies {
    var policies = ThrottlePolicies()
    for kind in ThrottledKind.allCases {
      guard let pacing = throttling[kind.rawValue], pacing.interval > 0,
        pacing.maximumStaleness >= pacing.interval, pacing.capacity > 0
      else { continue }
      policies[kind].interval = .nanoseconds(pacing.interval)
      policies[kind].maximumStaleness = .nanoseconds(pacing.maximumStaleness)
      policies[kind].capacity = pacing.capacity
    }
    return policies
  }
}
