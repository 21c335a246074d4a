import JSON
import LiveEvents
import Locking
import RateLimiting
import RecorderFeature
import Recordings
import SystemSupport
import Throttling

/// A change on which a room's state depends, other than an event or the passing of time. Changes
/// are recorded with the events, so that a replay reaches the same state even under another
/// configuration.
struct RoomChange: Codable, Equatable {
  /// The settings for throttling and for the chat; recorded at the beginning of a recording and
  /// after each reload.
  var settings: RecordedSettings?
  /// The number of rejected events, by reason. Rejected events are only counted.
  var rejected: [RejectionReason: Int]?
  /// An input of the room's own recorder. A restart applies it again, but a replay skips it.
  var recorder: RecorderInput?
  /// Whether the next event is an act, which no sender sent and which does not count as a received
  /// event.
  var isAct: Bool?

  /// `true` if the analysis of the chat starts from an empty state here, because a recording lacks
  /// all earlier messages.
  var restartsAnalysis: Bool?
  /// The batch to which the following events belong. They are applied only if all events of the
  /// batch are present.
  var position: RecordedBatchPosition?
  /// Whether the following events come from a recording that is being played.
  var replays: Bool?

  private enum CodingKeys: String, CodingKey {
    case settings, rejected, recorder, restartsAnalysis, position, replays
    case isAct = "act"
  }

  /// The text of the change that precedes an act.
  static let act = #"{"act":true}"#

  init(settings: RecordedSettings, restartsAnalysis: Bool = false) {
    self.settings = settings
    if restartsAnalysis, settings.analysesChat == true { self.restartsAnalysis = true }
  }

  init(rejected: [RejectionReason: Int]) { self.rejected = rejected }
  init(recorder: RecorderInput) { self.recorder = recorder }
  init(position: RecordedBatchPosition) { self.position = position }
  init(replays: Bool) { self.replays = replays }

  /// Whether the change concerns only the room in which it was recorded, and not a room that plays
  /// the recording.
  var isLocal: Bool {
    rejected != nil || recorder != nil || position != nil || replays != nil
  }

  /// The change as a JSON object on one line.
  var text: String {
    guard settings != nil else { return encoded }
    return Self.lastEncoded.withLock { last in
      if let last, last.change == self { return last.text }
      let new = (change: self, text: encoded)
      last = new
      return new.text
    }
  }

  private var encoded: String {
    // Encoding fails only for infinite numbers, and a change contains none.
    (try? JSONValue(encoding: self))?.description ?? "{}"
  }

  /// Decodes a change; fails if this version does not know it.
  init?(text: String) {
    if let known = Self.lastDecoded.withLock({ $0?.text == text ? $0?.change : nil }) {
      self = known
      return
    }
    guard let change: Self = try? JSONValue(parsing: text).decode() else { return nil }
    if change.settings != nil { Self.lastDecoded.withLock { $0 = (change, text) } }
    self = change
  }

  /// The settings that were encoded last, which all rooms have in common. When thousands of rooms
  /// are opened or restored, encoding and decoding the settings for each room would take a seventh
  /// of the time. Decoded settings are remembered separately, because another version may have
  /// written their text.
  private static let lastEncoded = Guarded<(change: Self, text: String)?>(nil)
  private static let lastDecoded = Guarded<(change: Self, text: String)?>(nil)
}

/// The source, number and size of a batch, recorded before the events of the batch.
struct RecordedBatchPosition: Codable, Equatable {
  var source: Text
  var sequence: Int
  /// The number of events of the batch that the room accepted. If the last of them are missing
  /// after a crash, the batch was never acknowledged, and none of its events is applied.
  var events: Int
}

/// The settings on which a room's state depends.
struct RecordedSettings: Codable, Equatable {
  struct Pacing: Codable, Equatable {
    /// In nanoseconds, like ``maximumStaleness``.
    var interval: Int64
    var maximumStaleness: Int64
    var capacity: Int
  }

  var chatHistory: Int
  /// Whether the chat is searched for bursts of duplicates; `nil` means no, also in recordings of
  /// versions that could not search.
  var analysesChat: Bool?
  /// The throttling of each kind of event, by the raw value of its ``ThrottledKind``.
  var throttling: [String: Pacing]

  init(_ settings: RoomSettings) {
    chatHistory = settings.chatHistory
    if settings.analysesChat { analysesChat = true }
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

  /// The longest delay that is accepted: ten years in nanoseconds, so that sums of times do not
  /// overflow.
  private static let longest: Int64 = 315_360_000_000_000_000

  /// The maximum number of messages that a chat stores; `nil` if no configuration could contain the
  /// recorded number.
  var history: Int? { (1...1_000_000).contains(chatHistory) ? chatHistory : nil }

  /// The throttling of all kinds. Values that no configuration could contain are replaced by the
  /// default values, because the file may come from anywhere.
  var policies: ThrottlePolicies {
    var policies = ThrottlePolicies()
    for kind in ThrottledKind.allCases {
      guard let pacing = throttling[kind.rawValue], pacing.interval > 0,
        pacing.maximumStaleness >= pacing.interval, pacing.maximumStaleness <= Self.longest,
        pacing.capacity > 0
      else { continue }
      policies[kind].interval = .nanoseconds(pacing.interval)
      policies[kind].maximumStaleness = .nanoseconds(pacing.maximumStaleness)
      policies[kind].capacity = pacing.capacity
    }
    return policies
  }
}
