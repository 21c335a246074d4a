/// A part of the host screen.
public enum Feature: String, Codable, Sendable, CaseIterable {
  case chat, control, header, liveRoomStats, recorder, waitingRoom
}

/// The parts of a room's screen. A part that the room does not have, or that was not asked for, is
/// absent.
public struct FeatureReports: Codable, Sendable, Equatable {
  /// Absent while the room has no chat.
  public var chat: ChatReport?
  public var control: ControlReport?
  public var header: HeaderReport?
  /// Absent unless the stream is on air and statistics came in.
  public var liveRoomStats: LiveRoomStatsReport?
  public var recorder: RecorderReport?
  /// Absent unless people waited before the stream went on air.
  public var waitingRoom: WaitingRoomReport?

  public init(
    chat: ChatReport? = nil, control: ControlReport? = .init(), header: HeaderReport? = .init(),
    liveRoomStats: LiveRoomStatsReport? = nil, recorder: RecorderReport? = .init(),
    waitingRoom: WaitingRoomReport? = nil
  ) {
    self.chat = chat
    self.control = control
    self.header = header
    self.liveRoomStats = liveRoomStats
    self.recorder = recorder
    self.waitingRoom = waitingRoom
  }
}
