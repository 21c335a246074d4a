import ChatFeature
import HeaderFeature
import LiveEvents
import LiveRoomStatsFeature
import WaitingRoomFeature

// When the optional children come and go. A child may exist in every phase but the one that removes
// it. An event that comes for it in that phase (the last sample of a stream that has ended, say) is
// late: it does not bring the child back. It counts as applied, since it reached the host's reducer,
// and the store counts its action as one without a child.
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
}

extension HostFeature.State {
  /// Makes the optional child whose first action this is. What a child told its parent makes none:
  /// it may be the last word of one that is gone. Nor does letting in somebody where nobody waits.
  mutating func makeChild(for action: HostFeature.Action) {
    switch action {
    case .chat:
      if chat == nil { chat = ChatFeature.State(historyLimit: chatHistory) }
    case .liveRoomStats(.windowClosed):
      if phase.admitsStatistics, liveRoomStats == nil {
        liveRoomStats = LiveRoomStatsFeature.State()
      }
    case .waitingRoom(.delegate), .waitingRoom(.admitNextTapped), .waitingRoom(.admitAllTapped),
      .waitingRoom(.admitPersonTapped):
      return
    case .waitingRoom:
      if phase.admitsWaitingRoom, waitingRoom == nil { waitingRoom = WaitingRoomFeature.State() }
    case .liveRoomStats(.delegate), .control, .header, .recorder, .endConfirmation, .stream,
      .roomClosed, .historyLimited, .ticked:
      return
    }
  }

  /// Removes the children that do not exist in `phase`.
  mutating func removeChildren(for phase: StreamState) {
    if !phase.admitsWaitingRoom { waitingRoom = nil }
    if !phase.admitsStatistics { removeStatistics() }
    // There is nothing left to ask.
    if phase == .ended { endConfirmation = nil }
  }

  /// Removes all optional children.
  mutating func removeChildren() {
    chat = nil
    removeStatistics()
    waitingRoom = nil
    endConfirmation = nil
  }

  /// What they judged goes with them.
  private mutating func removeStatistics() {
    liveRoomStats = nil
    quality = nil
    if header.connection != nil { header.connection = nil }
  }
}
