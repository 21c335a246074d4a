import Glibc
import JSON
import LiveEvents
import RateLimiting
import WireFormats

/// The first line of a segment. It names the recording, so that a lost catalogue can be rebuilt.
struct SegmentHeader: Codable, Equatable {
  static let type = "recording"
  var version = 1
  var name: String
  var room: String
  /// The number of the segment, starting at 1.
  var segment: Int
  /// When the recording began, in milliseconds since 1970.
  var startedAt: Int
}

/// The last line of a segment that was closed.
struct SegmentEnd: Codable, Equatable {
  static let type = "segmentEnd"
  var events: Int
  var frames: Int
  /// The checksum of all bytes before this line, as eight hexadecimal digits.
  var crc32: String
  /// In the last segment of a recording: how and when the recording ended.
  var state: RecordingState?
  var reason: String?
  var endedAt: Int?
  var digest: String?
}

/// The lines of a segment: native events with the room's time in nanoseconds as `at`; frames;
/// changes to whatever else the state depends on; the header and the end.
enum SegmentLines {
  private static let framePrefix: StaticString = #"{"type":"frame","at":"#
  private static let changePrefix: StaticString = #"{"type":"change","at":"#
  private static let changeInfix: StaticString = #","change":"#
  private static let headerPrefix: StaticString = "{\"type\":\"recording\","
  private static let endPrefix: StaticString = "{\"type\":\"segmentEnd\","
  private static let flushSuffix: StaticString = ",\"flush\":true}"

  // MARK: Writing

  static func append(_ event: LiveEvent, at instant: Instant, to bytes: inout [UInt8]) {
    NativeEncoder.append(event, to: &bytes)
    // Reopens the object for one more member.
    bytes.removeLast(2)
    bytes.append(contentsOf: #","at":"#.utf8)
    append(instant.nanoseconds, to: &bytes)
    bytes.append(UInt8(ascii: "}"))
    bytes.append(0x0A)
  }

  static func appendFrame(at instant: Instant, flush: Bool, to bytes: inout [UInt8]) {
    append(framePrefix, to: &bytes)
    append(instant.nanoseconds, to: &bytes)
    if flush { append(flushSuffix, to: &bytes) } else { bytes.append(UInt8(ascii: "}")) }
    bytes.append(0x0A)
  }

  static func appendChange(_ text: String, at instant: Instant, to bytes: inout [UInt8]) {
    append(changePrefix, to: &bytes)
    append(instant.nanoseconds, to: &bytes)
    append(changeInfix, to: &bytes)
    bytes.append(contentsOf: text.utf8)
    bytes.append(UInt8(ascii: "}"))
    bytes.append(0x0A)
  }

  /// Writes `type` first, so that the line can be recognised by its beginning.
  static func append(_ line: some Encodable, type: String, to bytes: inout [UInt8]) {
    guard let value = try? JSONValue(encoding: line) else { return }
    bytes.append(contentsOf: "{\"type\":\"\(type)\",".utf8)
    bytes.append(contentsOf: value.serialized().dropFirst())
    bytes.append(0x0A)
  }

  private static func append(_ text: StaticString, to bytes: inout [UInt8]) {
    bytes.append(
      contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  private static func append(_ number: Int64, to bytes: inout [UInt8]) {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
      var rest = number.magnitude
      var start = 20
      repeat {
        start -= 1
        digits[start] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
        rest /= 10
      } while rest > 0
      if number < 0 { bytes.append(UInt8(ascii: "-")) }
      bytes.append(contentsOf: UnsafeBufferPointer(rebasing: digits[start..<20]))
    }
  }

  // MARK: Reading

  enum Kind {
    case header, end, unknown
    case frame(at: Instant, flush: Bool)
    case event(at: Instant)
    case change(String, at: Instant)
  }

  /// The kind of a line, given without its line ending. Of an event, only the time is read.
  static func kind(of line: UnsafeBufferPointer<UInt8>) -> Kind {
    if begins(line, with: framePrefix) { return frame(line) }
    if begins(line, with: changePrefix) { return change(line) }
    if begins(line, with: headerPrefix) { return .header }
    if begins(line, with: endPrefix) { return .end }
    guard let instant = instant(endOf: line) else { return .unknown }
    return .event(at: instant)
  }

  private static func frame(_ line: UnsafeBufferPointer<UInt8>) -> Kind {
    let flush = ends(line, with: flushSuffix)
    let end = line.count - (flush ? flushSuffix.utf8CodeUnitCount : 1)
    let start = framePrefix.utf8CodeUnitCount
    guard start < end, line.last == UInt8(ascii: "}"), let number = number(line[start..<end]) else {
      return .unknown
    }
    return .frame(at: Instant(nanoseconds: number), flush: flush)
  }

  private static func change(_ line: UnsafeBufferPointer<UInt8>) -> Kind {
    let start = changePrefix.utf8CodeUnitCount
    guard let comma = line[start...].firstIndex(of: UInt8(ascii: ",")),
      let number = number(line[start..<comma]),
      begins(UnsafeBufferPointer(rebasing: line[comma...]), with: changeInfix),
      line.last == UInt8(ascii: "}")
    else { return .unknown }
    let text = line[(comma + changeInfix.utf8CodeUnitCount)...].dropLast()
    guard text.first == UInt8(ascii: "{"), text.last == UInt8(ascii: "}"),
      let text = String(validating: text, as: UTF8.self)
    else { return .unknown }
    return .change(text, at: Instant(nanoseconds: number))
  }

  /// The number in `,"at":N}` at the end of a line.
  private static func instant(endOf line: UnsafeBufferPointer<UInt8>) -> Instant? {
    let key: StaticString = #","at":"#
    guard line.last == UInt8(ascii: "}") else { return nil }
    var start = line.count - 1
    while start > 0, line[start - 1] != UInt8(ascii: ":") { start -= 1 }
    guard start >= key.utf8CodeUnitCount,
      ends(UnsafeBufferPointer(rebasing: line[..<start]), with: key),
      let number = number(line[start..<(line.count - 1)])
    else { return nil }
    return Instant(nanoseconds: number)
  }

  private static func number(_ digits: Slice<UnsafeBufferPointer<UInt8>>) -> Int64? {
    guard (1...19).contains(digits.count) else { return nil }
    var value: Int64 = 0
    for digit in digits {
      guard digit &- UInt8(ascii: "0") < 10 else { return nil }
      let (tens, tooMany) = value.multipliedReportingOverflow(by: 10)
      let (sum, tooLarge) = tens.addingReportingOverflow(Int64(digit &- UInt8(ascii: "0")))
      if tooMany || tooLarge { return nil }
      value = sum
    }
    return value <= latest ? value : nil
  }

  /// The latest time in nanoseconds that a line may have, decades after the latest that a room has: sums of
  /// times from any file must not overflow.
  private static let latest: Int64 = 1 << 62 + 1 << 60

  private static func begins(_ line: UnsafeBufferPointer<UInt8>, with text: StaticString) -> Bool {
    guard let start = line.baseAddress, line.count >= text.utf8CodeUnitCount else { return false }
    return memcmp(start, text.utf8Start, text.utf8CodeUnitCount) == 0
  }

  private static func ends(_ line: UnsafeBufferPointer<UInt8>, with text: StaticString) -> Bool {
    let start = line.count - text.utf8CodeUnitCount
    guard start >= 0 else { return false }
    return begins(UnsafeBufferPointer(rebasing: line[start...]), with: text)
  }
}
