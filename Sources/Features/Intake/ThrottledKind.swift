package import LiveEvents
package import RateLimiting

/// The kinds of events that may wait, each with the class that it is thinned by.
///
/// The class is a promise of the feature: what may not be lost is not thinned by a class that loses
/// it. How long an event may wait is up to the configuration. Events that are not listed never
/// wait.
package enum ThrottledKind: String, CaseIterable, Sendable {
  /// `chat.message`
  case chat
  /// `waiting.join`, `waiting.leave`, `waiting.admit`
  case waitingRoom
  /// `slider` changes
  case controls
  /// `meter`
  case meters
  /// `reaction`
  case reactions
  /// `viewers`
  case viewers
  /// `poll.votes`
  case votes
  /// `stats`
  case statistics
  /// `recorder.progress`
  case progress
  /// `source.state`
  case sources
  /// `goal`, `hypeTrain` progress
  case goals

  /// The kind of an event; `nil` for one that never waits.
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

  /// What the events are, in words.
  package var meaning: String {
    switch self {
    case .chat: "Chat messages"
    case .waitingRoom: "People who come to the waiting room, leave it or are let in"
    case .controls: "Changes of a slider while it is dragged"
    case .meters: "Levels of audio inputs"
    case .reactions: "Reactions"
    case .viewers: "Viewer counts"
    case .votes: "Votes of a poll"
    case .statistics: "Statistics of encoder and connection"
    case .progress: "Progress of a recorder that does not know its total"
    case .sources: "How the sources of events are doing"
    case .goals: "Progress of goals and hype trains"
    }
  }
}

extension ThrottlePolicies {
  /// The pacing where nothing is set. Events that are drawn with the frame may become as late as
  /// people still perceive as immediate; counts of viewers and votes and their wait for the frame stay
  /// below 250 ms.
  package static func standard(_ kind: ThrottledKind) -> Pacing {
    switch kind {
    case .chat, .waitingRoom, .controls, .meters, .reactions:
      Pacing(interval: frame, maximumStaleness: .milliseconds(100))
    case .viewers, .votes, .sources, .goals:
      Pacing(interval: .milliseconds(200), maximumStaleness: .seconds(1))
    case .statistics, .progress: Pacing(interval: .seconds(1))
    }
  }
}
