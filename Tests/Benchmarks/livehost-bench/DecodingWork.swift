import LiveEvents
import WireFormats

/// Lines to decode, whose text is never read.
struct DecodingWork {
  /// Number of lines in all slabs.
  let lineCount: Int
  /// Blocks of at most 64 KiB, as a socket gives them.
  let slabs: [ByteSlab]

  /// Takes lines without their line ends.
  init(lines: [String]) {
    var slabs: [ByteSlab] = []
    var block: [UInt8] = []
    for line in lines {
      if block.count + line.utf8.count >= 64 * 1024 {
        slabs.append(ByteSlab(block))
        block = []
      }
      block.append(contentsOf: line.utf8)
      block.append(0x0A)
    }
    slabs.append(ByteSlab(block))
    self.slabs = slabs
    lineCount = lines.count
  }

  /// Native chat messages of `length` bytes each (150 at least), all different.
  static func nativeMessages(count: Int, length: Int = 225) -> DecodingWork {
    DecodingWork(
      lines: (0..<count).map { number in
        let head =
          "{\"type\":\"chat.message\",\"room\":\"main\",\"ts\":\(1_700_000_000_000 + number),"
          + "\"id\":\"m-\(100_000_000 + number)\",\"user\":{\"id\":\"u\(10_000 + number % 1000)\","
          + "\"name\":\"Viewer \(1000 + number % 1000)\",\"badges\":\"subscriber/5\"},\"text\":\""
        let rest = max(0, length - head.utf8.count - 2)
        return head + String(repeating: "hello chat ", count: rest / 11 + 1).prefix(rest) + "\"}"
      })
  }

  /// The floor: only splits lines. Returns their bytes, so that the work is not optimised away.
  func split(_ slab: ByteSlab) -> Int {
    var offset = 0
    var bytes = 0
    while let line = slab.nextLine(at: &offset) { bytes += line.count }
    return bytes
  }

  /// Splits and decodes. Returns the number of events.
  func decode(_ slab: ByteSlab, with decoder: inout LineDecoder) -> Int {
    var offset = 0
    var events = 0
    while let line = slab.nextLine(at: &offset) {
      if case .event = decoder.decode(slab, line: line, arrival: 0) { events += 1 }
    }
    return events
  }
}
