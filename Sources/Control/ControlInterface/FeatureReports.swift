/// A part of the host screen.
public enum Feature: String, Codable, Sendable, CaseIterable {
  case chat, control, header, liveRoomStats, recorder, waitingRoom
}

/// The parts of a room's screen.
///
/// A part that is shown and that the room does not have is `null` in JSON; one that is not shown is
/// absent.
public struct FeatureReports: Sendable, Equatable {
  /// Nil while the room has no chat.
  public var chat: ChatReport?
  public var control: ControlReport?
  public var header: HeaderReport?
  /// Nil unless the stream is on air and statistics came in.
  public var liveRoomStats: LiveRoomStatsReport?
  public var recorder: RecorderReport?
  /// Nil unless somebody waited before the stream went on air.
  public var waitingRoom: WaitingRoomReport?
  /// The parts that were asked for.
  public var shown: Set<Feature>

  public init(
    chat: ChatReport? = nil, control: ControlReport = .init(), header: HeaderReport = .init(),
    liveRoomStats: LiveRoomStatsReport? = nil, recorder: RecorderReport = .init(),
    waitingRoom: WaitingRoomReport? = nil, shown: Set<Feature> = Set(Feature.allCases)
  ) {
    self.chat = chat
    self.control = control
    self.header = header
    self.liveRoomStats = liveRoomStats
    self.recorder = recorder
    self.waitingRoom = waitingRoom
    self.shown = shown
  }
}

extension Feature: CodingKey {}

extension FeatureReports: Codable {
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Feature.self)
    chat = try container.decodeIfPresent(ChatReport.self, forKey: .chat)
    control = try container.decodeIfPresent(ControlReport.self, forKey: .control)
    header = try container.decodeIfPresent(HeaderReport.self, forKey: .header)
    liveRoomStats = try container.decodeIfPresent(
      LiveRoomStatsReport.self, forKey: .liveRoomStats)
    recorder = try container.decodeIfPresent(RecorderReport.self, forKey: .recorder)
    waitingRoom = try container.decodeIfPresent(WaitingRoomReport.self, forKey: .waitingRoom)
    shown = Set(container.allKeys)
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Feature.self)
    for feature in Feature.allCases where shown.contains(feature) {
      // `encode`, not `encodeIfPresent`: a part that the room lacks must stand there as null.
      switch feature {
      case .chat: try container.encode(chat, forKey: feature)
      case .control: try container.encode(control, forKey: feature)
      case .header: try container.encode(header, forKey: feature)
      case .liveRoomStats: try container.encode(liveRoomStats, forKey: feature)
      case .recorder: try container.encode(recorder, forKey: feature)
      case .waitingRoom: try container.encode(waitingRoom, forKey: feature)
      }
    }
  }
}
