import ChatFeature
import HeaderFeature
import LiveEvents
import LiveRoomStatsFeature
import WaitingRoomFeature

// When the optional children come and go. A child may exist in every phase except the one that
// removes it. An event for it that arrives in that phase (the last sample of a stream that has
// ended, say) is late and does not bring the child back. It counts as applied, because it reached
// the host's reducer, and the store counts its action as one without a child.
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
  /// Makes the optional child to which `action` is addressed, unless it exists. A delegate action
  /// does not, because it may be the last word of a child that is gone; nor does letting people in,
  /// because nobody is waiting.
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
      guard phase.admitsWaitingRoom, waitingRoom == nil else { return }
      waitingRoom = WaitingRoomFeature.State()
      admittedBefore = nil
    case .liveRoomStats(.ticked), .liveRoomStats(.delegate), .control, .header, .recorder, .endConfirmation, .stream,
      .roomClosed, .historyLimited, .ticked:
      return
    }
  }

  /// Removes the children that do not exist in `phase`.
  mutating func removeChildren(for phase: StreamState) {
    if !phase.admitsWaitingRoom, let room = waitingRoom {
      waitingRoom = nil
      admittedBefore = room.admitted
    }
    if !phase.admitsStatistics { removeStatistics() }
    // There is nothing left to ask about.
    if phase == .ended { endConfirmation = nil }
  }

  /// Removes all optional children.
  mutating func removeChildren() {
    chat = nil
    removeStatistics()
    waitingRoom = nil
    endConfirmation = nil
    admittedBefore = nil
  }

  /// Removes the statistics, together with the quality derived from them.
  private mutating func removeStatistics() {
    liveRoomStats = nil
    quality = nil
    if header.connection != nil { header.connection = nil }
  }
}
