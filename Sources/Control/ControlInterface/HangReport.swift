/// A turn of a lane that was long enough to be noticed.
public struct HangReport: Codable, Sendable, Equatable {
  public enum Kind: String, Codable, Sendable, CaseIterable {
    /// 250 to 500 ms.
    case microhang
    /// 500 ms and more.
    case hang
  }

  /// What became of the time.
  public enum Reason: String, Codable, Sendable, CaseIterable {
    /// The lane computed.
    case busy
    /// The lane waited in a call for something.
    case blocked
    /// The machine gave the lane no processor.
    case descheduled
  }

  /// Counts the hangs of this run of the daemon, from 1.
  public var number: Int
  /// When the turn began, in milliseconds since 1970.
  public var timestamp: Int
  public var kind: Kind
  public var reason: Reason
  public var durationMicroseconds: Int
  public var lane: Int
  public var room: String?
  /// The kind of action that held the lane, such as `chat.messages`.
  public var action: String?
  public var view: String?
  public var effect: String?
  /// Time on a processor; `nil` if the kernel does not tell.
  public var processorMicroseconds: Int?
  /// Time without a processor although the lane was ready; `nil` if the kernel does not tell.
  public var waitedMicroseconds: Int?

  public init(
    number: Int, timestamp: Int, kind: Kind, reason: Reason, durationMicroseconds: Int, lane: Int,
    room: String? = nil, action: String? = nil, view: String? = nil, effect: String? = nil,
    processorMicroseconds: Int? = nil, waitedMicroseconds: Int? = nil
  ) {
    self.number = number
    self.timestamp = timestamp
    self.kind = kind
    self.reason = reason
    self.durationMicroseconds = durationMicroseconds
    self.lane = lane
    self.room = room
    self.action = action
    self.view = view
    self.effect = effect
    self.processorMicroseconds = processorMicroseconds
    self.waitedMicroseconds = waitedMicroseconds
  }
}

/// The reply of `ListHangs`, and each reply of `MonitorHangs`.
public struct HangsReply: Codable, Sendable, Equatable {
  public var hangs: [HangReport]

  public init(hangs: [HangReport]) { self.hangs = hangs }
}
