import Glibc
import JSON
import LiveEvents
import RateLimiting
import WireFormats

/// The first line of a segment. It names the recording, so that a lost catalogue can be rebuilt.
struct SegmentHeader: Codable, Equatable {
  static let type = "recording"
  /// The version whose lines are tied together by a ``LineChain``; those of version 1 are not.
  static let chained = 2
  /// More bytes than the line of any header has.
  static let maximumBytes = 512
  var version = SegmentHeader.chained
  var name: String
  var room: String
  /// The number of the segment, starting at 1.
  var segment: Int
  /// When the recording began, in milliseconds since 1970.
  var startedAt: Int
  /// The checksum with which the segment before ends; `nil` in the first segment, and behind one of
  /// version 1.
  var previous: String?
  /// In a recording: a log sequence after the last batch before the segment, and before the first
  /// batch in it. Earlier versions did not write it.
  var sequence: Int?
}

/// The last line of a segment that was closed.
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

/// The lines of a segment: native events with the room's time in nanoseconds as `at`; frames;
/// changes to whatever else the state depends on; the header and the end; and marks of what was
/// synced. Each lacks its closing brace and what follows, see ``LineChain``.
enum SegmentLines {
  private static let instantKey: StaticString = #","at":"#
  private static let framePrefix: StaticString = #"{"type":"frame","at":"#
  private static let changePrefix: StaticString = #"{"type":"change","at":"#
  private static let changeInfix: StaticString = #","change":"#
  private static let markInfix: StaticString = #","change":{"room":""#
  private static let headerPrefix: StaticString = "{\"type\":\"recording\","
  private static let endPrefix: StaticString = "{\"type\":\"segmentEnd\","
  private static let syncedMark: StaticString = "{\"type\":\"segmentSynced\""
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

  /// Notes that everything before was synced.
  ///
  /// - Parameter sequence: in a recording, the log sequence of the last batch before.
  static func appendSyncedMark(_ sequence: Int?, to bytes: inout [UInt8]) {
    bytes.append(syncedMark)
    guard let sequence else { return }
    bytes.append(sequenceKey)
    bytes.append(decimal: Int64(sequence))
  }

  /// Writes `type` first, so that the line can be recognised by its beginning.
  static func append(_ line: some Encodable, type: String, to bytes: inout [UInt8]) {
    guard let value = try? JSONValue(encoding: line) else { return }
    bytes.append(contentsOf: "{\"type\":\"\(type)\",".utf8)
    bytes.append(contentsOf: value.serialized().dropFirst().dropLast())
  }

  // MARK: Reading

  enum Kind {
    case header, end, unknown
    case synced(sequence: Int?)
    case frame(at: Instant, flush: Bool)
    case event(at: Instant)
    case change(String, at: Instant)
  }

  /// The kind of a line, given without its closing brace. Of an event, only the time is read.
  static func kind(of line: UnsafeBufferPointer<UInt8>) -> Kind {
    if line.begins(with: framePrefix) { return frame(line) }
    if line.begins(with: changePrefix) { return change(line) }
    if line.begins(with: headerPrefix) { return .header }
    if line.begins(with: endPrefix) { return .end }
    if line.begins(with: syncedMark) {
      let sequence = line.number(atEndAfter: sequenceKey).map { Int($0.number) }
      return .synced(sequence: sequence.flatMap { KeptNumbers.range.contains($0) ? $0 : nil })
    }
    guard let (number, _) = line.number(atEndAfter: instantKey), let instant = instant(number)
    else {
      return .unknown
    }
    return .event(at: instant)
  }

  /// Whether `bytes` are the beginning of a header, or a header is the beginning of them.
  static func mayBegin(with bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    guard let start = bytes.baseAddress else { return true }
    return memcmp(start, headerPrefix.utf8Start, min(bytes.count, headerPrefix.utf8CodeUnitCount))
      == 0
  }

  /// Where in `bytes` the last mark begins.
  static func lastMark(in bytes: UnsafeBufferPointer<UInt8>) -> Int? {
    bytes.indices.last {
      bytes[$0] == syncedMark.utf8Start.pointee
        && UnsafeBufferPointer(rebasing: bytes[$0...]).begins(with: syncedMark)
    }
  }

  /// The room that a mark of the log names, in bytes of which nothing else may be right.
  static func room(in bytes: UnsafeBufferPointer<UInt8>) -> String? {
    guard
      let start = bytes.indices.first(where: {
        UnsafeBufferPointer(rebasing: bytes[$0...]).begins(with: markInfix)
      })
    else { return nil }
    let name = bytes[(start + markInfix.utf8CodeUnitCount)...].prefix(64)
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
    number <= KeptNumbers.latest ? Instant(nanoseconds: number) : nil
  }
}
