package import ActivityFeature
package import ChatFeature
package import Composable
package import ControlFeature
package import EncoderStatsFeature
package import HeaderFeature
package import LiveEvents
package import PollFeature
package import RecorderFeature
package import SourcesFeature
package import WaitingRoomFeature

/// The host's screen: the phase of the stream, and the parts as children.
///
/// An optional child appears with its first action. The host removes `waitingRoom` when the stream
/// goes live, `liveRoomStats` and `poll` when it ends, and `activity`, `chat`, and `sources` when
/// the room closes. Removing a child cancels its effects.
@Reducer
package struct HostFeature {
  /// Changes of the children do not notify the host's observers, since a chat message must not
  /// cause an evaluation of the host's view.
  @ObservableState
  package struct State: Equatable, Sendable, Codable {
    package var phase: StreamState = StreamState.waiting
    /// Whether any recorder is recording the room, as last reported.
    package var isRecording = false
    /// The quality of the connection according to the statistics, if there are any.
    package var quality: StreamQuality?
    /// The question whether to end the stream, or `nil` while it is not asked.
    package var endConfirmation: EndConfirmation.State?
    /// The number of people whom the waiting room had admitted when it was removed, or `nil`
    /// before.
    package var admittedBefore: Int?

    @ObservationStateIgnored package var activity: ActivityFeature.State?
    @ObservationStateIgnored package var chat: ChatFeature.State?
    @ObservationStateIgnored package var control = ControlFeature.State()
    @ObservationStateIgnored package var header = HeaderFeature.State()
    @ObservationStateIgnored package var liveRoomStats: EncoderStatsFeature.State?
    @ObservationStateIgnored package var poll: PollFeature.State?
    @ObservationStateIgnored package var recorder = RecorderFeature.State()
    @ObservationStateIgnored package var sources: SourcesFeature.State?
    @ObservationStateIgnored package var waitingRoom: WaitingRoomFeature.State?

    /// The maximum number of messages of the chat, which may not exist yet.
    @ObservationStateIgnored package var chatHistory: Int
    /// Whether the chat is searched for bursts of duplicates. `nil` means false.
    @ObservationStateIgnored package var analysesChat: Bool?

    package init(chatHistory: Int = 500) { self.chatHistory = chatHistory }
  }

  package enum Action: Equatable, Sendable {
    case activity(ActivityFeature.Action)
    case chat(ChatFeature.Action)
    case control(ControlFeature.Action)
    case header(HeaderFeature.Action)
    case liveRoomStats(EncoderStatsFeature.Action)
    case poll(PollFeature.Action)
    case recorder(RecorderFeature.Action)
    case sources(SourcesFeature.Action)
    case waitingRoom(WaitingRoomFeature.Action)
    case endConfirmation(PresentationAction<EndConfirmation.Action>)
    /// The stream of a source entered a phase at this time, according to the source.
    case stream(StreamState, at: Timestamp, from: Origin = .none)
    case roomClosed
    case historyLimited(Int)
    /// Starts, restarts, or ends the analysis for bursts of duplicates.
    case chatAnalysisWanted(Bool)
    /// Time has advanced without an event. Sent once per second while ``State/wantsTicks`` is true.
    case ticked(at: Timestamp)
  }

  let dependencies: Dependencies

  package init(dependencies: Dependencies = .live()) { self.dependencies = dependencies }

  package var body: ReducerSteps<State, Action> {
    // Runs first, so that a child exists when its first action reaches it. Creating the child needs
    // no separate action, and children still run before their parent.
    Reduce { state, action in
      state.makeChild(for: action)
      return .none
    }
    Scope(state: \.control, action: \.control) { ControlFeature(dependencies: dependencies) }
    Scope(state: \.header, action: \.header) { HeaderFeature() }
    Scope(state: \.recorder, action: \.recorder) { RecorderFeature(dependencies: dependencies) }
    Reduce { state, action in
      switch action {
      case .stream(let phase, let time, let origin):
        return enter(phase, at: time, from: origin, in: &state)
      case .roomClosed:
        state.removeChildren()
        return .none
      case .historyLimited(let count):
        state.chatHistory = count
        state.chat?.limitHistory(to: count)
        return .none
      case .chatAnalysisWanted(let isWanted):
        state.analysesChat = isWanted ? true : nil
        return state.chat == nil ? .none : .send(.chat(.analysisWanted(isWanted)))
      case .ticked(let time):
        return tick(at: time, in: &state)
      case .recorder(.delegate(.isRecordingChanged(let isRecording))):
        state.isRecording = isRecording
        return .none
      case .liveRoomStats(.delegate(.qualityChanged(let quality))):
        return show(quality, in: &state)
      case .liveRoomStats(.windowClosed(_, let origin)):
        state.header.recordActivity(from: origin)
        return .none
      case .sources:
        state.passConnectionsToHeader()
        return .none
      case .control(.delegate(.endStreamTapped(let on))):
        return confirmEnd(on, in: &state)
      case .control(.surface), .control(.actRequested), .control(.answered):
        return showActs(in: &state)
      case .control(.delegate(.requestEnded(let request, .refused(let reason)))):
        return askAgain(after: request, reason, in: &state)
      case .endConfirmation(.presented(.delegate(.confirmed))):
        if state.control.requests?.controller(for: ControlFeature.endStream) != nil {
          return .send(.control(.endStreamRequested))
        }
        // The host's own time is the newest time on which the duration is based.
        return endStreams(at: state.header.newestTime, in: &state)
      case .chat(.notice(let notice, let time, let origin)):
        // The announcement of a gift bomb already counts the gifts.
        guard notice.kind != .gift || notice.group == nil else { return .none }
        return activity(.noticed(notice, at: time, from: origin), in: &state)
      case .chat(.messageDeleted(let id, _)):
        return retract(.message(id), in: &state)
      case .chat(.timedOut(let timeout, _)):
        return retract(.person(timeout.user), in: &state)
      case .chat(.cleared): return retract(.everything, in: &state)
      case .activity, .chat, .control, .header, .liveRoomStats, .poll, .recorder, .waitingRoom,
        .endConfirmation:
        return .none
      }
    }
    .presents(\.endConfirmation, action: \.endConfirmation) { EndConfirmation() }
    .ifLet(\.activity, action: \.activity) { ActivityFeature() }
    .ifLet(\.chat, action: \.chat) { ChatFeature(dependencies: dependencies) }
    .ifLet(\.liveRoomStats, action: \.liveRoomStats) { EncoderStatsFeature() }
    .ifLet(\.poll, action: \.poll) { PollFeature() }
    .ifLet(\.sources, action: \.sources) { SourcesFeature() }
    .ifLet(\.waitingRoom, action: \.waitingRoom) { WaitingRoomFeature() }
  }

  /// Repeats the question whether to end the stream after an attempt failed.
  private func askAgain(
    after request: ControlRequest, _ reason: String, in state: inout State
  ) -> Effect<Action> {
    guard request.command == .endStream, reason != ControlRequest.replaced, state.phase != .ended
    else { return .none }
    state.endConfirmation = EndConfirmation.State(viewers: state.header.viewers, failure: reason)
    return .none
  }

  /// Removes words from the feed, but only if the feed contains any of them: an action without
  /// effect would still mark the feed as changed.
  private func retract(
    _ retraction: ActivityFeature.Retraction, in state: inout State
  ) -> Effect<Action> {
    guard let feed = state.activity?.feed, feed.containsText(of: retraction) else { return .none }
    return activity(.retracted(retraction), in: &state)
  }

  /// Passes chat events on to the feed, if it exists. Runs the feed's reducer directly, so that one
  /// event remains one action.
  private func activity(
    _ action: ActivityFeature.Action, in state: inout State
  ) -> Effect<Action> {
    guard state.activity != nil else { return .none }
    return ActivityFeature().reduce(into: &state.activity!, action: action).map(Action.activity)
  }

  /// Shows in the header the quality of the connection, which only the statistics know.
  private func show(_ quality: StreamQuality, in state: inout State) -> Effect<Action> {
    state.quality = quality
    let connection: HeaderFeature.Connection =
      switch quality {
      case .good: .good
      case .fair: .fair
      case .poor: .poor
      }
    return header(.connectionChanged(connection), in: &state)
  }

  /// Asks before the stream ends. While the question is open, a tap answers it, with yes if `on` is
  /// true.
  private func confirmEnd(_ on: Bool?, in state: inout State) -> Effect<Action> {
    guard state.endConfirmation != nil else {
      guard on != false, state.phase != .ended else { return .none }
      state.endConfirmation = EndConfirmation.State(viewers: state.header.viewers)
      return .none
    }
    let answer: EndConfirmation.Action = on == true ? .confirmTapped : .cancelTapped
    return .send(.endConfirmation(.presented(answer)))
  }

  func header(_ action: HeaderFeature.Action, in state: inout State) -> Effect<Action> {
    HeaderFeature().reduce(into: &state.header, action: action).map(Action.header)
  }

  /// Runs the children that show time directly, so that one tick remains one action.
  private func tick(at time: Timestamp, in state: inout State) -> Effect<Action> {
    var effects = [
      tickHeader(at: time, in: &state),
      ControlFeature(dependencies: dependencies)
        .reduce(into: &state.control, action: .ticked).map(Action.control),
    ]
    if state.liveRoomStats != nil {
      effects.append(
        EncoderStatsFeature().reduce(into: &state.liveRoomStats!, action: .ticked(at: time))
          .map(Action.liveRoomStats))
    }
    if state.chat != nil {
      effects.append(
        ChatFeature().reduce(into: &state.chat!, action: .ticked(at: time)).map(Action.chat))
    }
    if state.poll != nil {
      effects.append(
        PollFeature().reduce(into: &state.poll!, action: .ticked(at: time)).map(Action.poll))
    }
    if state.waitingRoom != nil {
      effects.append(
        WaitingRoomFeature().reduce(into: &state.waitingRoom!, action: .ticked(at: time))
          .map(Action.waitingRoom))
    }
    return .merge(effects)
  }
}

/// The result of an effect as an input, so that a replay repeats it without running the effect.
package enum EffectInput: Equatable, Sendable {
  /// An event that did not arrive as a line.
  case event(LiveEvent.Payload)
  case recorder(RecorderInput)
}

extension HostFeature.Action {
  /// The input that records the result of an effect. `nil` for other actions.
  package var input: EffectInput? {
    switch self {
    case .chat(let action): action.event.map { .event(.chat($0)) }
    case .control(let action): action.event.map { .event(.control($0)) }
    case .recorder(let action): action.input.map(EffectInput.recorder)
    case .activity, .header, .liveRoomStats, .poll, .sources, .waitingRoom, .endConfirmation,
      .stream, .roomClosed, .historyLimited, .chatAnalysisWanted, .ticked:
      nil
    }
  }
}

extension HostFeature.State {
  /// Whether anything visible changes with time alone: the duration of a live stream, the silence
  /// of one of several sources, the rate of a chat, its bursts of duplicates, gifts that wait for
  /// their announcement, countdowns, or a drag whose end may be lost.
  package var wantsTicks: Bool {
    header.isRunning || header.isAging || (chat?.rate ?? 0) > 0 || chat?.notices.isHolding == true
      || chat?.hasBursts == true
      || waitingRoom?.isCountingDown == true || waitingRoom?.isAdmitting == true
      || poll?.isCountingDown == true
      || !control.dragging.isEmpty
  }

  /// Returns whether the chat keeps this many messages, or will when it appears.
  package func hasHistoryLimit(_ count: Int) -> Bool {
    chatHistory == count && chat?.hasHistoryLimit(count) ?? true
  }

  /// Whether the chat's history is still being reviewed, one part per frame.
  package var isReviewing: Bool { chat?.isReviewing == true }
}

// MARK: Optional children

// The lifetimes of the optional children. An optional child can exist in every phase except those
// that remove it. In these phases, an event for the child, such as the last sample of an ended
// stream, is late and does not restore the child. The event still counts as applied, because it
// reached the host's reducer.
extension StreamState {
  var admitsWaitingRoom: Bool {
    switch self {
    case .live: false
    case .waiting, .paused, .ended: true
    }
  }

  var admitsStatistics: Bool {
    switch self {
    case .ended: false
    case .waiting, .live, .paused: true
    }
  }

  /// Only a stream that has not ended has viewers who vote.
  var admitsPoll: Bool { admitsStatistics }
}

extension HostFeature.State {
  /// Creates an optional child for its first action. A delegate action creates no child, because it
  /// may be the last action of a removed child. Admitting people does not create a waiting room.
  mutating func makeChild(for action: HostFeature.Action) {
    switch action {
    case .chat(.analysed), .chat(.analysisWanted), .chat(.analysisResumed):
      return
    case .chat:
      // A comparison with `== nil` would copy the chat with each message.
      if case .some = chat { return }
      makeChat()
    case .liveRoomStats(.windowClosed):
      if case .some = liveRoomStats { return }
      if phase.admitsStatistics { liveRoomStats = EncoderStatsFeature.State() }
    case .poll(.began):
      if case .some = poll { return }
      if phase.admitsPoll { poll = PollFeature.State() }
    case .activity(.pinned), .activity(.unpinned), .activity(.dismissed):
      return
    case .activity:
      if case .some = activity { return }
      activity = ActivityFeature.State()
      // The feed starts with the notices that the chat has shown so far.
      for entry in chat?.notices.entries ?? [] {
        activity?.feed.add(entry.notice, count: entry.count, at: entry.timestamp)
      }
    case .sources:
      if case .some = sources { return }
      sources = SourcesFeature.State()
    case .waitingRoom(.delegate), .waitingRoom(.admitNextTapped), .waitingRoom(.admitAllTapped),
      .waitingRoom(.admitPersonTapped):
      return
    case .waitingRoom:
      if case .some = waitingRoom { return }
      guard phase.admitsWaitingRoom else { return }
      waitingRoom = WaitingRoomFeature.State()
      admittedBefore = nil
    case .liveRoomStats, .poll, .control, .header, .recorder,
      .endConfirmation, .stream, .roomClosed, .historyLimited, .chatAnalysisWanted, .ticked:
      return
    }
  }

  /// Removes the children that cannot exist in `phase`.
  mutating func removeChildren(for phase: StreamState) {
    if !phase.admitsWaitingRoom, let room = waitingRoom {
      waitingRoom = nil
      admittedBefore = room.admitted
    }
    if !phase.admitsStatistics { removeStatistics() }
    if !phase.admitsPoll { poll = nil }
    // An ended stream cannot be ended again.
    if phase == .ended { endConfirmation = nil }
  }

  mutating func removeChildren() {
    activity = nil
    chat = nil
    removeStatistics()
    poll = nil
    sources = nil
    waitingRoom = nil
    endConfirmation = nil
  }

  /// Removes the statistics together with their quality.
  mutating func removeStatistics() {
    liveRoomStats = nil
    quality = nil
    if header.connection != nil { header.connection = nil }
  }
}

extension HostFeature.State: Bounded {
  package func checkBounds() throws(OutOfBounds) {
    try require(countable: endConfirmation?.viewers, admittedBefore, chatHistory, in: "viewers")
    try require(names: endConfirmation?.failure, in: "endConfirmation")
    try check(activity, "activity")
    try check(chat, "chat")
    try check(control, "control")
    try check(header, "header")
    try check(liveRoomStats, "liveRoomStats")
    try check(poll, "poll")
    try check(recorder, "recorder")
    try check(sources, "sources")
    try check(waitingRoom, "waitingRoom")
  }
}
