import Compression
import HangSimulation
import LiveEvents
import WireFormats

/// Reads a recording: lines of any format, optionally compressed with gzip.
struct RecordedSource {
  /// The virtual time of the first event.
  var start: VirtualTime
  /// The playback speed relative to the original, in millionths.
  var speed: Int64

  /// The number of compressed bytes between two checks of the size limit. It is small because
  /// compressed zeros expand by a factor of a thousand.
  private static let pieceSize = 4_096

  /// - Parameter limit: The maximum size without compression, in bytes. Reduced by the recording's
  ///   size.
  /// - Complexity: O(size).
  func read(
    _ bytes: [UInt8], limit: inout Int
  ) throws(RecordingProblem) -> SourceDescription.Recorded {
    var decoder = LineDecoder()
    var events: [LiveEvent] = []
    var rejections: [RejectionReason: Int] = [:]
    let text = try inflated(bytes, limit: limit)
    limit -= text.count
    let slab = ByteSlab(text)
    var offset = 0
    var isEnded = false
    while !isEnded {
      let decoded: DecodedLine
      if let line = slab.nextLine(at: &offset) {
        decoded = decoder.decode(slab, line: line, arrival: 0)
      } else {
        isEnded = true
        let rest = ByteSlab.Slice(offset: offset, count: slab.count - offset)
        decoded = decoder.decodeUnended(slab, line: rest, arrival: 0)
      }
      switch decoded {
      case .event(let event, _): events.append(event)
      case .rejected(let reason, _): rejections[reason, default: 0] += 1
      case .control, .blank: break
      }
    }
    guard let first = events.first else { throw RecordingProblem("contains no events") }
    return SourceDescription.Recorded(
      events: timed(events, from: first.timestamp),
      rejections: rejections.sorted { $0.key.rawValue < $1.key.rawValue }
        .map { (reason: $0.key, count: $0.value) })
  }

  /// Returns each event with the virtual time of its timestamp, or with the previous event's time
  /// if that is later. The timestamps of real chats sometimes go backwards.
  private func timed(_ events: [LiveEvent], from first: Timestamp) -> [TimedEvent] {
    var newest = start
    return events.map { event in
      let offset = Int128(event.timestamp) - Int128(first)
      let scaled = offset * 1_000_000 * 1_000_000 / Int128(speed)
      let happened = VirtualTime(
        nanoseconds: Int64(clamping: Int128(start.nanoseconds) + scaled))
      newest = max(newest, happened)
      var event = event
      event.timestamp = SimulationEpoch.timestamp + happened.milliseconds
      return TimedEvent(time: newest, event: event)
    }
  }

  private func inflated(
    _ bytes: [UInt8], limit: Int
  ) throws(RecordingProblem) -> [UInt8] {
    let excess = RecordingProblem(
      "exceeds the daemon's limit for recordings; shorten them, or simulate with --local")
    guard bytes.starts(with: GzipReader.magic) else {
      if bytes.count > limit { throw excess }
      return bytes
    }
    var output: [UInt8] = []
    let result = bytes.withUnsafeBytes { input in
      Result { () throws(GzipError) in
        var reader = try GzipReader()
        var start = 0
        while start < input.count, output.count <= limit {
          let end = min(start + Self.pieceSize, input.count)
          try reader.read(UnsafeRawBufferPointer(rebasing: input[start..<end])) {
            output.append(contentsOf: $0)
          }
          start = end
        }
        if output.count <= limit { try reader.finish() }
      }
    }
    do { try result.get() } catch { throw RecordingProblem("cannot be read: \(error)") }
    if output.count > limit { throw excess }
    return output
  }
}

struct RecordingProblem: Error {
  let message: String
  init(_ message: String) { self.message = message }
}

/// The start of virtual time: the first instant of 2026, UTC.
enum SimulationEpoch {
  static let timestamp: Timestamp = 1_767_225_600_000
}
