import ActivityFeature
import Analysis
import ChatFeature
import ControlFeature
import LiveEvents
import RateLimiting
import SourcesFeature
import WireFormats

/// How much of each kind a saved room may contain.
///
/// A room in memory keeps to these limits because they are enforced where something is added.
/// Nothing is added when a saved room is decoded, so its text is checked here, before it is
/// decoded: a room that comes back takes no more than `RoomBudget` says. What leaves out the excess
/// while it is decoded needs no limit here. Nor do histories of the chat, which get the limit of
/// this daemon's settings in ``Room/wake(after:at:now:)``.
enum SnapshotLimits {
  /// The longest texts in bytes of UTF-8, by the name of the member around them and their own. All
  /// others are names.
  private static let texts: [String: Int] = [
    "message.text": LineDecoder.maximumLineLength,
    "message.badges": LineDecoder.maximumLineLength,
    "message.replyTo": LineDecoder.maximumLineLength,
    "header.title": EventLimits.titleLength,
    "poll.title": EventLimits.titleLength,
    "prediction.title": EventLimits.titleLength,
    "rows.text": EventLimits.titleLength,
    "current.sample": ChatFindings.sampleLength,
    // The system's reason, with a path.
    "work.failure": 8 << 10,
    "chat.rateHistory": historyLength,
    "header.viewersHistory": historyLength,
    "liveRoomStats.bitrateHistory": historyLength,
    "liveRoomStats.roundTripHistory": historyLength,
    "identifiers.hashes": RecentIdentifiers.textLength,
    // Blocks of bytes. What decodes them compares their lengths with its own limits.
    // Rooms of 0.1.0 may have more people than are kept.
    "chatters.short": 4 * base64Length(ChatterSet.byteLimit),
    "people.#": packedLength,
    "window.ids": packedLength,
    "window.people": packedLength,
    "window.ordinals": packedLength,
    "window.times": packedLength,
    "window.waves": packedLength,
    "underWay.texts": packedLength,
    "underWay.ends": packedLength,
    "underWay.times": packedLength,
    "pending.texts": packedLength,
    "pending.ends": packedLength,
    "pending.times": packedLength,
  ]

  /// The longest text of a `History`: 16 bytes for each number and the space behind it.
  private static let historyLength = History.limit * 16
  private static let packedLength = base64Length(BurstBookkeeping.memory)

  private static func base64Length(_ bytes: Int) -> Int { (bytes + 2) / 3 * 4 }

  /// The longest lists by the same names. All others have no more elements than the longest tables
  /// of a room.
  private static let lists: [String: Int] = [
    "messages.messages": Int.max,
    "filtered.messages": Int.max,
    "folded.messages": Int.max,
    "waitingRoom.people": Int.max,
    "chatters.long": Int.max,
    // One for each millisecond with a message, and those that come before the oldest are forgotten.
    "pace.moments": 2 * (Int(MessagePace.horizon) + 1_000),
    "message.emotes": 2 * EmoteRanges.limit,
    "rows.emotes": 2 * EmoteRanges.limit,
    "chat.topChatters": TopChatter.limit,
    "chatters.top": TopChatter.limit,
    "notices.entries": NoticeBoard.limit,
    "notices.held": NoticeBoard.limit,
    "mentionedNames.names": ChatEvent.maximumHighlightedNames,
    "waves.current": ChatFindings.burstLimit,
    "highlights.entries": HighlightTimeline.limit,
    "entries.words": ChatHighlight.wordLimit,
    "feed.rows": ActivityFeed.limit,
    "activity.goals": ActivityFeature.maximumGoals,
    "prediction.options": Prediction.maximumOptions,
    "prediction.totals": Prediction.maximumOptions,
    "poll.options": PollEvent.maximumOptions,
    "sources.sources": SourcesFeature.limit,
    "requests.surfaces": Requests.maximumControllers,
    "surfaces.controls": ControllerEvent.maximumControls,
    "requests.outstanding": controls,
    "failures.entries": controls,
    "values.entries": controls,
    "switches.entries": controls,
    "dragging.entries": controls,
    "idle.entries": controls,
    "overdue.entries": controls,
    "meters.entries": controls,
    "entries.value": ControlEvent.maximumChannels,
    "known.batches": KnownEvents.maximumSources,
  ]

  /// Some of a room's controls may be known by name only from before a restart.
  private static let controls = 2 * ControlThrottle.nameCapacity
  /// `RecentKeys` are saved as keys and values in turn.
  private static let listLength = 2 * max(RecentModeration.capacity, NoticeBoard.groupMemory)
  /// More than the containers of a room are within each other.
  private static let depth = 64

  /// The names of the first part of a saved room that is too large, joined by a dot; `nil` if there
  /// is none.
  ///
  /// Of text that is not JSON, the decoder finds the fault.
  ///
  /// - Complexity: O(*n*) in the number of bytes, a few nanoseconds for each at most: less than to
  ///   decode them.
  static func excess(in text: UnsafeBufferPointer<UInt8>) -> String? {
    var scan = Scan(text: text)
    return scan.excess()
  }

  /// What is known while the text is read.
  private struct Scan {
    /// An object or list that has begun and not ended.
    private struct Container {
      let isObject: Bool
      /// The names of the member that it is and of the one around that; what is in a list has the
      /// names of the list.
      let name: Range<Int>
      let outerName: Range<Int>
      let limit: Int
      var count = 1
      var expectsName: Bool
      /// The name of the present member.
      var member = 0..<0
    }

    private let text: UnsafeBufferPointer<UInt8>
    private var position = 0
    private var open: [Container] = []

    init(text: UnsafeBufferPointer<UInt8>) { self.text = text }

    mutating func excess() -> String? {
      while position < text.count {
        let byte = text[position]
        position += 1
        switch byte {
        case UInt8(ascii: "\""):
          if let name = readText() { return name }
        case UInt8(ascii: "{"), UInt8(ascii: "["):
          guard open.count < SnapshotLimits.depth else { return joined(names) }
          begin(isObject: byte == UInt8(ascii: "{"))
        case UInt8(ascii: "}"), UInt8(ascii: "]"):
          _ = open.popLast()
        case UInt8(ascii: ","):
          guard let last = open.indices.last else { continue }
          open[last].count += 1
          open[last].expectsName = open[last].isObject
          guard open[last].count <= open[last].limit else {
            return joined((open[last].outerName, open[last].name))
          }
        default: break
        }
      }
      return nil
    }

    /// Where the names of the value are that comes next.
    private var names: (outer: Range<Int>, own: Range<Int>) {
      guard let container = open.last else { return (0..<0, 0..<0) }
      return container.isObject
        ? (container.name, container.member) : (container.outerName, container.name)
    }

    private func joined(_ names: (outer: Range<Int>, own: Range<Int>)) -> String {
      // Tables by the numbers of what they are about.
      let isNumber = !names.own.isEmpty && text[names.own].allSatisfy { (0x30...0x39).contains($0) }
      let own = isNumber ? "#" : String(decoding: text[names.own], as: UTF8.self)
      return names.outer.isEmpty
        ? own : "\(String(decoding: text[names.outer], as: UTF8.self)).\(own)"
    }

    private mutating func begin(isObject: Bool) {
      let (outer, own) = names
      var limit = SnapshotLimits.listLength
      // The members of nearly all objects are those of a type; to look for each would cost the most
      // here.
      if !isObject { limit = SnapshotLimits.lists[joined((outer, own))] ?? limit }
      open.append(
        Container(
          isObject: isObject, name: own, outerName: outer, limit: limit, expectsName: isObject))
    }

    /// Reads the text whose quotation mark has just been read. Returns its names if it is too long.
    private mutating func readText() -> String? {
      let start = position
      var length = 0
      while position < text.count, text[position] != UInt8(ascii: "\"") {
        if text[position] == UInt8(ascii: "\\") {
          length += readEscape()
        } else {
          position += 1
          length += 1
        }
      }
      let range = start..<max(start, min(position, text.count))
      position += 1
      var limit = EventLimits.nameLength
      if let last = open.indices.last, open[last].expectsName {
        open[last].expectsName = false
        guard length > limit else {
          open[last].member = range
          return nil
        }
        return joined((open[last].outerName, open[last].name))
      }
      guard length > limit else { return nil }
      let name = joined(names)
      limit = SnapshotLimits.texts[name] ?? limit
      return length > limit ? name : nil
    }

    /// Reads an escape. Returns how many bytes of UTF-8 it stands for; half of a pair counts for
    /// half of them.
    private mutating func readEscape() -> Int {
      guard position + 6 <= text.count, text[position + 1] == UInt8(ascii: "u"),
        let unit = UInt16(
          String(decoding: text[position + 2..<position + 6], as: UTF8.self), radix: 16)
      else {
        position += 2
        return 1
      }
      position += 6
      return switch unit {
      case 0..<0x80: 1
      case 0x80..<0x800, 0xD800..<0xE000: 2
      default: 3
      }
    }
  }
}
