package import LiveEvents
package import RateLimiting

/// The kinds of events that may wait. Events that are not listed here never wait.
///
/// The throttling class of a kind is a promise of the feature: events that must not be lost do not
/// have a class that loses them. The configuration determines how long an event may wait.
package enum ThrottledKind: String, CaseIterable, Sendable {
  /// Applies to `chat.message`.
  case chat
  /// Applies to `waiting.join`, `waiting.leave`, and `waiting.admit`.
  case waitingRoom
  /// Applies to changes in `slider`.
  case controls
  /// Applies to `meter`.
  case meters
  /// Applies to `reaction`.
  case reactions
  /// Applies to `viewers`.
  case viewers
  /// Applies to `poll.votes`.
  case votes
  /// Applies to `stats`.
  case statistics
  /// Applies to `recorder.progress`.
  case progress
  /// Applies to `source.state`.
  case sources
  /// Applies to `goal`, and to progress in `hypeTrain`.
  case goals

  /// Returns the kind of an event, or `nil` for an event that never waits.
  package static func of(_ event: LiveEvent.Payload) -> ThrottledKind? {
    switch event {
    case .chat(.message): .chat
    case .waitingRoom(.join), .waitingRoom(.leave), .waitingRoom(.admitted): .waitingRoom
    case .control(.slider), .control(.state): .controls
    case .control(.meter): .meters
    case .header(.reaction): .reactions
    case .header(.viewers): .viewers
    case .poll(.votes): .votes
    case .liveRoomStats: .statistics
    case .recorder(.progress): .progress
    case .source(.state): .sources
    case .activity(.goal): .goals
    case .activity(.hypeTrain(let train)) where train.phase == .progress: .goals
    case .activity, .chat, .waitingRoom, .control, .header, .poll, .recorder, .source, .stream:
      nil
    }
  }

  package var limitClass: LimitClass {
    switch self {
    case .chat, .waitingRoom: .keepAll
    case .controls, .meters, .viewers, .votes, .sources, .goals: .latestWins
    case .reactions: .aggregate
    case .statistics: .summary
    case .progress: .progress
    }
  }

  package var summary: String {
    switch self {
    case .chat: "Chat messages"
    case .waitingRoom: "Joins, leaves, and admissions of the waiting room"
    case .controls: "Changes of a slider while it is dragged"
    case .meters: "Levels of audio inputs"
    case .reactions: "Reactions"
    case .viewers: "Viewer counts"
    case .votes: "Votes of a poll"
    case .statistics: "Statistics of encoder and connection"
    case .progress: "Progress of a recorder that does not know its total"
    case .sources: "States of the event sources"
    case .goals: "Progress of goals and hype trains"
    }
  }
}

extension ThrottlePolicies {
  /// Returns the default policy. Events that are drawn with the frame are delayed only so little
  /// that people perceive them as immediate. The delay of viewer counts and votes, including the
  /// wait for the frame, stays below 250 ms.
  package static func defaultPacing(_ kind: ThrottledKind) -> Pacing {
    switch kind {
    case .chat, .waitingRoom, .controls, .meters, .reactions:
      Pacing(interval: frame, maximumStaleness: .milliseconds(100))
    case .viewers, .votes, .sources, .goals:
      Pacing(interval: .milliseconds(200), maximumStaleness: .seconds(1))
    case .statistics, .progress: Pacing(interval: .seconds(1))
    }
  }
}
