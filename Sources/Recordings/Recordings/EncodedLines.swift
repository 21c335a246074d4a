import RateLimiting

/// Encoded lines without the members that chain them (see ``LineChain``). The log encodes each line
/// once, and recordings copy it. Belongs to the writer's thread.
final class EncodedLines {
  private(set) var bytes: [UInt8] = []
  /// Where each line ends.
  private(set) var ends: [Int] = []
  private(set) var contents = SegmentContents()

  /// Adds the line of a step: an event, a frame or neither.
  func append(
    _ line: some Collection<UInt8>, at instant: Instant, events: Int = 0, frames: Int = 0
  ) {
    bytes.append(contentsOf: line)
    ends.append(bytes.count)
    contents.note(instant, events: events, frames: frames)
  }

  func removeAll() {
    bytes.removeAll(keepingCapacity: true)
    ends.removeAll(keepingCapacity: true)
    contents = SegmentContents()
  }
}
