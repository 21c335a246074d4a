import ActivityFeature
import Analysis
import ChatFeature
import Composable
import ControlFeature
package import ControlInterface
import EncoderStatsFeature
import HeaderFeature
import HostFeature
package import HostScreen
import JSON
import LiveEvents
import PollFeature
import RateLimiting
import RecorderFeature
import SourcesFeature
import ViewGraph
import WaitingRoomFeature

/// The data of a screen that a report of its room needs, read on the lane.
struct RoomReading: Sendable {
  let room: String
  let phase: StreamState
  let features: FeatureReports
  let counts: EventCounts
  let actions: UInt64
  let actionsByKind: [(kind: String, count: UInt64)]
  let frames: UInt64
  let views: [String: ViewReport]

  /// Reads at most `newestMessages` chat messages; nil for `features` means all features.
  init(_ screen: HostScreen, room: String, newestMessages: Int, _ features: Set<Feature>?) {
    self.room = room
    phase = screen.store.state.phase
    self.features = FeatureReports(
      screen.store.state, features ?? Set(Feature.allCases), newestMessages: newestMessages,
      room: room)
    counts = screen.counts
    actions = screen.store.actionCount
    actionsByKind = screen.store.actionsByKind
    frames = screen.views.frames
    // The statistics are converted here, because holding them would make the next frame copy them.
    views = screen.views.statistics.mapValues(ViewReport.init)
  }
}

extension RoomReport {
  /// Creates a report of all features of a screen, in the form of `GetRoom`.
  package init(_ screen: HostScreen, room: String, newestMessages: Int) {
    self.init(RoomReading(screen, room: room, newestMessages: newestMessages, nil))
  }

  init(_ reading: RoomReading) {
    self.init(
      room: reading.room, phase: reading.phase, features: reading.features,
      counters: reading.counts.counters, rejectedByReason: reading.counts.reasons,
      actions: Int(reading.actions),
      actionsByKind: Dictionary(
        reading.actionsByKind.map { ($0.kind, Int($0.count)) }, uniquingKeysWith: +),
      frames: Int(reading.frames), views: reading.views)
  }
}

extension RoomSummary {
  init(_ screen: HostScreen, room: RoomName) {
    let state = screen.store.state
    self.init(
      room: room.description, phase: state.phase, viewers: state.header.viewers,
      counters: screen.counts.counters)
  }
}

extension FeatureReports {
  fileprivate init(
    _ state: HostFeature.State, _ features: Set<Feature>, newestMessages: Int, room: String
  ) {
    func report<State, Report>(
      _ feature: Feature, _ state: @autoclosure () -> State?, _ make: (State) -> Report?
    ) -> Report? {
      features.contains(feature) ? state().flatMap(make) : nil
    }
    self.init(
      activity: report(.activity, state.activity, ActivityReport.init),
      chat: report(.chat, state.chat) { ChatReport($0, newest: newestMessages) },
      control: report(.control, state.control, ControlReport.init),
      header: report(.header, state.header, HeaderReport.init),
      liveRoomStats: report(.liveRoomStats, state.liveRoomStats, LiveRoomStatsReport.init),
      poll: report(.poll, state.poll, Poll.init),
      recorder: report(.recorder, state.recorder, RecorderReport.init),
      sources: report(.sources, state.sources) { $0.sources.map { SourceReport($0, in: room) } },
      waitingRoom: report(.waitingRoom, state.waitingRoom) {
        WaitingRoomReport(
          waiting: $0.people.count, admitted: $0.admitted, capacity: $0.capacity,
          secondsLeft: $0.secondsLeft, startsAt: $0.startsAt.map { Int($0) },
          people: $0.people.prefix(newestMessages).map(UserReport.init),
          waitingAtLeast: $0.leftOut == nil ? nil : true, perSecond: $0.pace)
      })
  }
}

extension ViewReport {
  fileprivate init(_ statistics: ViewStatistics) {
    self.init(
      evaluations: statistics.evaluations, avoidable: statistics.avoidable,
      totalMicroseconds: Int(statistics.total / 1000),
      maximumMicroseconds: Int(statistics.maximum / 1000))
  }
}

extension ChatReport {
  fileprivate init(_ state: ChatFeature.State, newest: Int) {
    self.init(
      total: state.total, deleted: state.deleted, chatters: state.chatters,
      rate: Double(state.rate),
      messages: state.messages.suffix(newest).map(ChatMessageReport.init),
      moderations: state.moderations, notices: state.noticeCount,
      busiestSecond: .init(
        byClock: state.busiestSecond.byClock, sliding: state.busiestSecond.sliding),
      recent: state.bookkeeping.pace.recent,
      topChatters: state.topChatters.map {
        TopChatterReport(
          user: UserReport(id: String($0.userID), name: String($0.name)), messages: $0.messages)
      },
      modes: state.modes == ChatModes() ? nil : ChatModesReport(state.modes),
      noticeQueue: state.notices.entries.map(NoticeReport.init),
      filter: state.filter.map(ChatFilterReport.init),
      filtered: state.filtered?.suffix(newest).map(ChatMessageReport.init),
      mentionedNames: state.mentionedNames.names,
      unread: state.readUpTo == nil ? nil : state.unread,
      thread: state.thread?.messages.suffix(newest).map(ChatMessageReport.init),
      chattersAtLeast: state.chattersAtLeast,
      leftOut: state.messages.leftOut > 0 ? state.messages.leftOut : nil,
      waves: state.waves?.current.map(WaveReport.init),
      unsearched: state.waves.flatMap { $0.unanalysed > 0 ? $0.unanalysed : nil },
      highlights: state.highlights?.entries.map(HighlightReport.init),
      acts: state.acts?.performed.map(PerformedActReport.init),
      person: state.card.map(PersonCardReport.init))
  }
}

extension PersonCardReport {
  init(_ card: PersonCard) {
    let badges = String(card.badges).split(separator: ",").map(String.init)
    self.init(
      user: UserReport(
        id: String(card.person.id), name: card.name, badges: badges.isEmpty ? nil : badges),
      platform: card.person.platform.map { String($0) }, messages: card.messages,
      messagesAtLeast: card.messagesAtLeast, firstAt: card.firstAt.map { Int($0) },
      firstAtMost: card.firstAtMost, newest: card.newest.map(ChatMessageReport.init),
      moderations: card.moderations.map(PersonModerationReport.init), note: card.note)
  }
}

extension PersonModerationReport {
  fileprivate init(_ moderation: PersonModeration) {
    self.init(
      kind: moderation.kind, timestamp: moderation.timestamp.map { Int($0) },
      seconds: moderation.seconds, by: moderation.by.map { String($0) },
      outcome: moderation.outcome.map(OutcomeReport.init), reason: moderation.outcome?.reason)
  }
}

extension PerformedActReport {
  fileprivate init(_ performed: PerformedAct) {
    let request = performed.act
    self.init(
      act: PlatformActReport(request.act), platform: request.platform.map { String($0) },
      source: request.source.map { String($0) }, by: request.by.map { String($0) },
      outcome: performed.outcome.map(OutcomeReport.init), reason: performed.outcome?.reason)
  }
}

extension HighlightReport {
  fileprivate init(_ highlight: ChatHighlight) {
    self.init(
      startedAt: Int(highlight.startedAt), durationMs: highlight.seconds * 1_000,
      messages: highlight.messages, rate: Double(highlight.busiest) / 10,
      baseline: Double(highlight.usual) / 10, words: highlight.words.map { String($0) })
  }
}

extension WaveReport {
  fileprivate init(_ burst: Burst) {
    self.init(
      number: burst.number, sample: burst.sample, messages: burst.messages, people: burst.people,
      peopleAtLeast: burst.peopleAtLeast, firstAt: Int(burst.firstAt), lastAt: Int(burst.lastAt))
  }
}

extension NoticeReport {
  fileprivate init(_ shown: DisplayedNotice) {
    self.init(
      number: shown.number, kind: shown.notice.kind.rawValue, user: UserReport(shown.notice.user),
      count: shown.count, timestamp: Int(shown.timestamp), pinned: shown.isPinned,
      text: shown.notice.message.map { String($0.text) },
      emotes: shown.notice.message?.emotePositions)
  }
}

extension ChatFilterReport {
  fileprivate init(_ filter: ChatFilter) {
    self.init(
      user: filter.person.map { String($0) }, words: filter.words.isEmpty ? nil : filter.words,
      mentionsOnly: filter.mentionsOnly, platform: filter.platform.map { String($0) })
  }
}

extension UserReport {
  init(_ person: Person) { self.init(id: String(person.id), name: String(person.name)) }
}

extension ChatMessageReport {
  init(_ displayed: DisplayedMessage) {
    let message = displayed.message
    let badges = String(message.badges).split(separator: ",").map(String.init)
    self.init(
      id: String(message.id),
      user: UserReport(
        id: String(message.userID), name: String(message.userName),
        badges: badges.isEmpty ? nil : badges, color: message.color?.description),
      text: String(message.text), timestamp: Int(displayed.timestamp),
      replyTo: message.replyTo.isEmpty ? nil : String(message.replyTo),
      mention: displayed.isMention ? true : nil,
      channel: message.channel.isEmpty ? nil : String(message.channel),
      bits: message.bits == 0 ? nil : Int(message.bits),
      kind: message.kind.isEmpty ? nil : String(message.kind),
      action: message.isAction ? true : nil,
      emotes: message.emotePositions, platform: displayed.origin.named(\.platform),
      source: displayed.origin.named(\.source))
  }
}

extension Origin {
  /// Returns one of the names; `nil` if it is unknown.
  fileprivate func named(_ name: KeyPath<Origin, Text>) -> String? {
    guard self != .none else { return nil }
    let text = self[keyPath: name]
    return text.isEmpty ? nil : String(text)
  }
}

extension ControlReport {
  fileprivate init(_ state: ControlFeature.State) {
    self.init(
      values: Dictionary(state.values.entries.map { ($0.name, $0.value) }) { $1 },
      switches: Dictionary(state.switches.entries.map { ($0.name, $0.value) }) { $1 },
      dragging: state.dragging.names, committed: state.committed,
      pending: state.requests?.pending, failures: state.requests?.reportedFailures)
  }
}

extension Requests {
  fileprivate var pending: [String: JSONValue]? {
    var values: [String: JSONValue] = [:]
    for request in outstanding {
      switch request.command {
      case .slider(let control, let value): values[control] = .number(value)
      case .switch(let control, let position): values[control] = .bool(position)
      case .endStream: values[ControlFeature.endStream] = .bool(true)
      case .record(let wish): values[ControlFeature.recorder] = .string(wish.rawValue)
      case .act: break
      }
    }
    return values.isEmpty ? nil : values
  }

  fileprivate var reportedFailures: [String: String]? {
    failures.isEmpty
      ? nil : Dictionary(failures.entries.map { ($0.name, $0.value) }) { $1 }
  }
}

extension HeaderReport {
  fileprivate init(_ state: HeaderFeature.State) {
    self.init(
      title: state.title, viewers: state.viewers, peakViewers: state.peakViewers,
      likes: state.likes, durationMs: Int(state.durationMilliseconds),
      connection: state.connection?.rawValue, category: state.category,
      parts: state.reportedParts,
      omitted: state.bookkeeping.flatMap { $0.omitted > 0 ? $0.omitted : nil })
  }
}

extension HeaderFeature.State {
  fileprivate var reportedParts: [HeaderPartReport]? {
    guard let shown = parts?.filter(\.isShown), shown.count > 1 else { return nil }
    return shown.map { part in
      HeaderPartReport(
        platform: part.origin.named(\.platform), source: part.origin.named(\.source),
        viewers: part.viewers, title: part.title, category: part.category, phase: part.phase,
        stale: part.standing == .stale)
    }
  }
}

extension LiveRoomStatsReport {
  /// Fails until the first measurement window is complete.
  fileprivate init?(_ state: EncoderStatsFeature.State) {
    guard let window = state.window else { return nil }
    self.init(
      last: StatisticsReport(window) { $0.last }, minimum: StatisticsReport(window) { $0.minimum },
      maximum: StatisticsReport(window) { $0.maximum }, mean: StatisticsReport(window) { $0.mean },
      quality: state.quality.rawValue, fault: state.fault?.rawValue,
      parts: state.parts?.compactMap { LiveRoomStatsPartReport($0) })
  }
}

extension LiveRoomStatsPartReport {
  /// Fails until the source's first measurement window is complete.
  fileprivate init?(_ part: EncoderPart) {
    guard let window = part.window else { return nil }
    self.init(
      platform: part.origin.named(\.platform), source: part.origin.named(\.source),
      last: StatisticsReport(window) { $0.last }, quality: part.quality.rawValue,
      stale: part.isStale)
  }
}

extension StatisticsReport {
  fileprivate init(_ window: StatisticsWindow, _ value: (Summary) -> Double) {
    self.init(
      bitrateKbps: window.bitrate.map(value), framesPerSecond: window.frameRate.map(value),
      droppedFrames: window.droppedFrames.map(value), roundTripMs: window.roundTrip.map(value),
      congestion: window.congestion.map(value))
  }
}

extension Poll {
  fileprivate init(_ state: PollFeature.State) {
    self.init(
      id: String(state.id), title: state.title,
      options: state.options.map { PollOption(title: $0.title, votes: $0.votes) },
      state: state.isOpen ? .open : .ended, winner: state.winner,
      endsAt: state.endsAt.map { Int($0) })
  }
}

extension ActivityReport {
  fileprivate init(_ state: ActivityFeature.State) {
    self.init(
      total: state.feed.total, rows: state.feed.shown.map(ActivityRowReport.init),
      hypeTrain: state.train.map {
        HypeTrainReport(
          level: $0.level, total: $0.total, progress: $0.progress, goal: $0.goal,
          endsAt: $0.endsAt.map { Int($0) })
      }, prediction: state.prediction.map(PredictionReport.init),
      goals: state.goals.map {
        GoalReport(title: String($0.title), count: $0.count, target: $0.target)
      })
  }
}

extension ActivityRowReport {
  fileprivate init(_ row: ActivityRow) {
    self.init(
      number: row.number, kind: row.kind.rawValue, name: row.name, times: row.times,
      count: row.count, title: row.title, text: row.text, timestamp: Int(row.timestamp),
      pinned: row.isPinned, platform: row.platform, source: row.source, emotes: row.emotes)
  }
}

extension PredictionReport {
  fileprivate init(_ prediction: Prediction) {
    self.init(
      id: String(prediction.id), title: String(prediction.title),
      options: prediction.options.enumerated().map { index, title in
        PredictionOption(
          title: String(title),
          points: index < prediction.totals.count ? prediction.totals[index] : 0)
      }, state: prediction.state, winner: prediction.winner,
      endsAt: prediction.endsAt.map { Int($0) })
  }
}

extension SourceReport {
  /// Returns the sources of a room with their newest batch numbers.
  static func all(of screen: HostScreen, _ known: KnownEvents, in room: RoomName) -> [Self] {
    (screen.store.state.sources?.sources ?? []).map {
      var report = Self($0, in: room.description)
      report.position = known.position(of: report.source)
      return report
    }
  }

  init(_ source: SourcesFeature.Source, in room: String) {
    let status = source.status
    self.init(
      room: room, source: String(source.name), state: status?.state,
      platform: status?.platform.map { String($0) }, reason: status?.reason.map { String($0) },
      behindMs: status?.behindMilliseconds, lost: status?.lost ?? 0,
      backfilled: status?.backfilled ?? 0, duplicate: status?.duplicate ?? 0, gaps: source.gaps,
      gapMs: source.gapMilliseconds,
      lastGap: source.lastGap.map {
        GapReport(from: Int($0.from), to: Int($0.to), reason: String($0.reason))
      }, timestamp: Int(source.timestamp), notShown: status?.notShown)
  }
}

extension RecorderReport {
  fileprivate init(_ state: RecorderFeature.State) {
    let recording = state.own ?? state.elsewhere
    self.init(
      state: recording.state, bytes: recording.bytes,
      durationMs: recording.durationMilliseconds,
      progress: recording.percent.map { Double($0) / 100 },
      own: state.own.map { SingleRecorderReport($0, state.work) },
      elsewhere: SingleRecorderReport(state.elsewhere))
  }
}

extension SingleRecorderReport {
  fileprivate init(_ recording: RecorderActivity, _ work: RecorderWork? = nil) {
    self.init(
      state: recording.state, bytes: recording.bytes,
      durationMs: recording.durationMilliseconds, recording: work?.recording,
      failure: work?.failure, retrySeconds: work?.retryDelay.map { Int($0.components.seconds) })
  }
}
