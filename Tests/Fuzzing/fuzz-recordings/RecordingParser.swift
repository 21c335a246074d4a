import Foundation
import FuzzSupport
import LiveEvents
import RateLimiting
import Recordings
import WireFormats

/// Segments of recordings.
final class RecordingParser: Parser {
  private let segment: URL
  private let files: RecordingFiles
  private var steps: [RecordedStep] = []
  private var written: [UInt8] = []
  private var decoder = LineDecoder(maximumLineLength: RecordingParser.longestLine)

  /// The longest line of a segment.
  private static let longestLine = 512 << 10

  init() throws {
    let directory = FileManager.default.temporaryDirectory
      .appendingPathComponent("livehost-fuzz-\(getpid())")
    let name = "fuzz-20261122T000000Z"
    segment = directory.appendingPathComponent(name).appendingPathComponent("000001.ndjson")
    try FileManager.default.createDirectory(
      at: segment.deletingLastPathComponent(), withIntermediateDirectories: true)
    let header =
      #"{"type":"recording","version":1,"name":"\#(name)","room":"fuzz","segment":1,"startedAt":0}"#
    try Data("\(header)\n".utf8).write(to: segment)
    let library = try RecordingLibrary(directory: directory.path)
    try wait { try await library.open() }
    // How far a reader reads: as far as libFuzzer's inputs go.
    try Data(count: 1 << 20).write(to: segment)
    files = try wait { try await library.files(of: name) }
    library.close()
  }

  func read(_ bytes: UnsafeBufferPointer<UInt8>) {
    check("the segment is written", (try? Data(buffer: bytes).write(to: segment)) != nil)
    var reader = RecordingReader(files)
    var read = 0
    while true {
      do {
        guard try reader.read(into: &steps) else { break }
      } catch {
        // The segment is damaged; all its steps have been read.
        break
      }
      read += steps.count
      for case .event(let event, _) in steps { write(event) }
      steps.removeAll(keepingCapacity: true)
    }
    check("a step takes at least a line", read <= bytes.count)
    steps.removeAll()
    decoder.forgetRooms()
  }

  /// What was read from a recording can be recorded.
  private func write(_ event: LiveEvent) {
    written.removeAll(keepingCapacity: true)
    NativeEncoder.append(event, to: &written)
    let slab = ByteSlab(written)
    let line = ByteSlab.Slice(offset: 0, count: slab.count - 1)
    guard case .event(let again, _) = decoder.decode(slab, line: line, arrival: 8) else {
      fatalError("a written event is read")
    }
    check("a written event is read as it was", again == event)
  }
}
