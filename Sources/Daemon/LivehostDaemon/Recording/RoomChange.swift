import JSON
import LiveEvents
import Locking
import RateLimiting
import RecorderFeature
import Recordings
import SystemSupport
import Throttling

/// Something that a room's state depends on besides its events and its time. It is recorded with
/// them, so that a replay reaches the same state whatever the configuration says at that time.
struct RoomChange: Codable, Equatable {
  /// How long events may wait and how much of the chat is kept; recorded at the beginning of a
  /// recording and after each reload.
  var settings: RecordedSettings?
  /// How many events were rejected; they are counted and leave nothing else.
  var rejected: [RejectionReason: Int]?
  /// What happened to the room's own recorder, which only a restart repeats.
  var recorder: RecorderInput?
  /// Whether the event that follows is an act, which came by no line and is not counted as
  /// received.
  var isAct: Bool?

  /// `true` if the analysis of the chat begins anew here: a recording knows of nothing before it.
  var restartsAnalysis: Bool?
  /// The batch that the events behind it are; they count only if all of them are there.
  var position: RecordedBatchPosition?
  /// Whether the events that follow are those of a recording that is played.
  var replays: Bool?

  private enum CodingKeys: String, CodingKey {
    case settings, rejected, recorder, restartsAnalysis, position, replays
    case isAct = "act"
  }

  /// The text in front of an act.
  static let act = #"{"act":true}"#

  init(settings: RecordedSettings, restartsAnalysis: Bool = false) {
    self.settings = settings
    if restartsAnalysis, settings.analysesChat == true { self.restartsAnalysis = true }
  }

  init(rejected: [RejectionReason: Int]) { self.rejected = rejected }
  init(recorder: RecorderInput) { self.recorder = recorder }
  init(position: RecordedBatchPosition) { self.position = position }
  init(replays: Bool) { self.replays = replays }

  /// Whether it is about the room in which it was recorded, and about no other one.
  var isLocal: Bool {
    rejected != nil || recorder != nil || position != nil || replays != nil
  }

  /// One JSON object on one line.
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
    // It contains no infinite number, and everything else can be encoded.
    (try? JSONValue(encoding: self))?.description ?? "{}"
  }

  /// `nil` if the text is not a change known to this version.
  init?(text: String) {
    if let known = Self.lastDecoded.withLock({ $0?.text == text ? $0?.change : nil }) {
      self = known
      return
    }
    guard let change: Self = try? JSONValue(parsing: text).decode() else { return nil }
    if change.settings != nil { Self.lastDecoded.withLock { $0 = (change, text) } }
    self = change
  }

  /// The settings that were encoded last, which are those of all rooms: with thousands of rooms
  /// that begin or come back, to encode and decode them would take a seventh of the time. Apart
  /// from each other, since what is read may have been written by another version.
  private static let lastEncoded = Guarded<(change: Self, text: String)?>(nil)
  private static let lastDecoded = Guarded<(change: Self, text: String)?>(nil)
}

/// A batch of a source as it is recorded: in front of its events.
struct RecordedBatchPosition: Codable, Equatable {
  var source: Text
  var sequence: Int
  /// How many events of the batch the room took. The last of them may be missing after a crash;
  /// then the batch was never acknowledged, and none of it is taken.
  var events: Int
}

/// The settings on which a room's state depends.
struct RecordedSettings: Codable, Equatable {
  struct Pacing: Codable, Equatable {
    /// Nanoseconds.
    var interval: Int64
    var maximumStaleness: Int64
    var capacity: Int
  }

  var chatHistory: Int
  /// Whether the chat is searched for waves; `nil` is no, as before that was possible.
  var analysesChat: Bool?
  /// The intervals by the names of ``ThrottledKind``.
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

  /// Ten years in nanoseconds: sums of times must not overflow.
  private static let longest: Int64 = 315_360_000_000_000_000

  /// How many messages a chat keeps; `nil` for a number that no configuration could contain.
  var history: Int? { (1...1_000_000).contains(chatHistory) ? chatHistory : nil }

  /// Values that no configuration could contain are left at their default: the file may come from
  /// anywhere.
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
