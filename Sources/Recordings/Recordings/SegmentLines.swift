import Glibc
import JSON
import LiveEvents
import RateLimiting
import WireFormats

/// The first line of a segment. It names the recording, so that a lost catalogue can be rebuilt.
struct SegmentHeader: Codable, Equatable {
  static let type = "recording"
  /// The first version whose lines form a ``LineChain``.
  static let chained = 2
  /// An upper bound for the length of a header line, in bytes.
  static let maximumBytes = 512
  var version = SegmentHeader.chained
  var name: String
  var room: String
  /// The number of the segment, counted from 1.
  var segment: Int
  /// When the recording began, in milliseconds since 1970.
  var startedAt: Int
  /// The checksum at the end of the previous segment; `nil` in the first segment, and after a
  /// segment of version 1.
  var previous: String?
  /// In a recording: a log sequence. All batches in earlier segments have at most this one, and all
  /// batches in this segment have larger ones. Earlier versions did not write it.
  var sequence: Int?
}

/// The last line of a closed segment.
struct SegmentEnd: Codable, Equatable {
  static let type = "segmentEnd"
  var events: Int
  var frames: Int
  /// In version 1, the CRC-32 of all bytes before this line, as eight hexadecimal digits.
  var crc32: String?
  /// In the last segment of a recording: how and when the recording ended.
  var state: RecordingState?
  var reason: String?
  var endedAt: Int?
  var digest: String?
}

/// The lines of a segment.
///
/// A line is the header, an event, a frame, a change, `segmentSynced`, or the end. Events are in
/// the native format, with the room's time in nanoseconds as `at`. All lines are encoded without
/// the closing brace, before which ``LineChain`` adds two members.
enum SegmentLines {
  private static let instantKey: StaticString = #","at":"#
  private static let framePrefix: StaticString = #"{"type":"frame","at":"#
  private static let changePrefix: StaticString = #"{"type":"change","at":"#
  private static let changeInfix: StaticString = #","change":"#
  private static let roomInfix: StaticString = #","change":{"room":""#
  private static let headerPrefix: StaticString = "{\"type\":\"recording\","
  private static let endPrefix: StaticString = "{\"type\":\"segmentEnd\","
  private static let syncedPrefix: StaticString = "{\"type\":\"segmentSynced\""
  private static let sequenceKey: StaticString = ",\"sequence\":"
  private static let flushSuffix: StaticString = ",\"flush\":true"

  // MARK: Writing

  static func append(_ event: LiveEvent, at instant: Instant, to bytes: inout [UInt8]) {
    NativeEncoder.append(event, to: &bytes)
    // Reopens the object for more members.
    bytes.removeLast(2)
    bytes.append(instantKey)
    bytes.append(decimal: instant.nanoseconds)
  }

  static func appendFrame(at instant: Instant, flush: Bool, to bytes: inout [UInt8]) {
    bytes.append(framePrefix)
    bytes.append(decimal: instant.nanoseconds)
    if flush { bytes.append(flushSuffix) }
  }

  static func appendChange(_ text: String, at instant: Instant, to bytes: inout [UInt8]) {
    bytes.append(changePrefix)
    bytes.append(decimal: instant.nanoseconds)
    bytes.append(changeInfix)
    bytes.append(contentsOf: text.utf8)
  }

  /// Appends the line stating that all previous lines are synced.
  ///
  /// - Parameter sequence: in a recording, the log sequence of the last batch before the line.
  static func appendSynced(_ sequence: Int?, to bytes: inout [UInt8]) {
    bytes.append(syncedPrefix)
    guard let sequence else { return }
    bytes.append(sequenceKey)
    bytes.append(decimal: Int64(sequence))
  }

  /// Appends a line that begins with its `type`, by which it is recognised.
  static func append(_ line: some Encodable, type: String, to bytes: inout [UInt8]) {
    guard let value = try? JSONValue(encoding: line) else { return }
    bytes.append(contentsOf: "{\"type\":\"\(type)\",".utf8)
    bytes.append(contentsOf: value.serialized().dropFirst().dropLast())
  }

  // MARK: Reading

  /// A limit for instants that no room reaches for decades. Later instants could overflow, and
  /// indicate tampering.
  static let latest = Instant(nanoseconds: 1 << 62 + 1 << 60)

  enum Kind {
    case header, end, unknown
    case synced(sequence: Int?)
    case frame(at: Instant, flush: Bool)
    case event(at: Instant)
    case change(String, at: Instant)
  }

  /// Returns the kind of a line without its closing brace. Only the time of an event is parsed.
  static func kind(of line: UnsafeBufferPointer<UInt8>) -> Kind {
    if line.begins(with: framePrefix) { return frame(line) }
    if line.begins(with: changePrefix) { return change(line) }
    if line.begins(with: headerPrefix) { return .header }
    if line.begins(with: endPrefix) { return .end }
    if line.begins(with: syncedPrefix) {
      let sequence = line.number(atEndAfter: sequenceKey).map { Int($0.number) }
      return .synced(sequence: sequence.flatMap { EventLimits.total.contains($0) ? $0 : nil })
    }
    guard let (number, _) = line.number(atEndAfter: instantKey), let instant = instant(number)
    else {
      return .unknown
    }
    return .event(at: instant)
  }

  /// Whether `bytes` are a prefix of a header line, or begin with one.
  static func mayBegin(with bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    guard let start = bytes.baseAddress else { return true }
    return memcmp(start, headerPrefix.utf8Start, min(bytes.count, headerPrefix.utf8CodeUnitCount))
      == 0
  }

  /// Returns the offset of the last `segmentSynced` line in `bytes`.
  static func lastSyncedLine(in bytes: UnsafeBufferPointer<UInt8>) -> Int? {
    bytes.indices.last {
      bytes[$0] == syncedPrefix.utf8Start.pointee
        && UnsafeBufferPointer(rebasing: bytes[$0...]).begins(with: syncedPrefix)
    }
  }

  /// Returns the room in a mark of the log, from a line that may be damaged.
  static func room(in bytes: UnsafeBufferPointer<UInt8>) -> String? {
    guard
      let start = bytes.indices.first(where: {
        UnsafeBufferPointer(rebasing: bytes[$0...]).begins(with: roomInfix)
      })
    else { return nil }
    let name = bytes[(start + roomInfix.utf8CodeUnitCount)...].prefix(64)
    guard let end = name.firstIndex(of: UInt8(ascii: "\"")) else { return nil }
    return String(validating: name[..<end], as: UTF8.self)
  }

  private static func frame(_ line: UnsafeBufferPointer<UInt8>) -> Kind {
    let flush = line.ends(with: flushSuffix)
    let end = line.count - (flush ? flushSuffix.utf8CodeUnitCount : 0)
    let start = framePrefix.utf8CodeUnitCount
    guard start < end, let number = line[start..<end].number, let instant = instant(number) else {
      return .unknown
    }
    return .frame(at: instant, flush: flush)
  }

  private static func change(_ line: UnsafeBufferPointer<UInt8>) -> Kind {
    let start = changePrefix.utf8CodeUnitCount
    guard let comma = line[start...].firstIndex(of: UInt8(ascii: ",")),
      let number = line[start..<comma].number, let instant = instant(number),
      UnsafeBufferPointer(rebasing: line[comma...]).begins(with: changeInfix)
    else { return .unknown }
    let text = line[(comma + changeInfix.utf8CodeUnitCount)...]
    guard text.first == UInt8(ascii: "{"), text.last == UInt8(ascii: "}"),
      let text = String(validating: text, as: UTF8.self)
    else { return .unknown }
    return .change(text, at: instant)
  }

  private static func instant(_ number: Int64) -> Instant? {
    number <= latest.nanoseconds ? Instant(nanoseconds: number) : nil
  }
}
