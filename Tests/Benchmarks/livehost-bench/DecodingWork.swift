import LiveEvents
import WireFormats

/// Lines to decode, in slabs. The texts of the events are never read.
struct DecodingWork {
  /// The number of lines in all slabs.
  let lineCount: Int
  /// Blocks of at most 64 KiB, as read from a socket.
  let slabs: [ByteSlab]

  /// Creates the work from lines without line ends.
  init(lines: [String]) {
    self.init(lines.lazy.map { Array($0.utf8) + [0x0A] }, count: lines.count)
  }

  init(_ lines: MessageLines) {
    self.init(
      (0..<lines.count).lazy.map { Array(lines.bytes[lines.range($0..<$0 + 1)]) },
      count: lines.count)
  }

  private init(_ lines: some Sequence<[UInt8]>, count: Int) {
    var slabs: [ByteSlab] = []
    var block: [UInt8] = []
    for line in lines {
      if block.count + line.count > 64 * 1024 {
        slabs.append(ByteSlab(block))
        block = []
      }
      block += line
    }
    slabs.append(ByteSlab(block))
    self.slabs = slabs
    lineCount = count
  }

  /// Returns different native chat messages of `length` bytes each. `length` must be at least 150.
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

  /// Returns chat messages as Twitch sends them, with all tags.
  static func ircMessages(count: Int) -> DecodingWork {
    DecodingWork(
      lines: (0..<count).map { number in
        let user = 10_000 + number % 1_000
        return "@badge-info=subscriber/2;badges=subscriber/0,premium/1;color=#7488FF;"
          + "display-name=Viewer\(user);emotes=25:0-4;flags=;"
          + "id=ae783546-fcfc-6f68-0f68-\(100_000_000_000 + number);mod=0;room-id=1000001;"
          + "subscriber=1;tmi-sent-ts=\(1_700_000_000_000 + number);turbo=0;user-id=\(user);"
          + "user-type= :viewer\(user)!viewer\(user)@viewer\(user).tmi.twitch.tv "
          + "PRIVMSG #examplehost :Kappa hello chat hello chat hello chat"
      })
  }

  /// Measures the floor, which only splits lines. Returns their bytes to prevent optimisation.
  func split(_ slab: ByteSlab) -> Int {
    var offset = 0
    var bytes = 0
    while let line = slab.nextLine(at: &offset) { bytes += line.count }
    return bytes
  }

  /// Splits and decodes lines. Returns the number of events.
  func decode(_ slab: ByteSlab, with decoder: inout LineDecoder) -> Int {
    var offset = 0
    var events = 0
    while let line = slab.nextLine(at: &offset) {
      if case .event = decoder.decode(slab, line: line, arrival: 0) { events += 1 }
    }
    return events
  }

  /// The decoded events of each block.
  func events() -> [[LiveEvent]] {
    var decoder = LineDecoder()
    return slabs.map { slab in
      var offset = 0
      var events: [LiveEvent] = []
      while let line = slab.nextLine(at: &offset) {
        if case .event(let event, _) = decoder.decode(slab, line: line, arrival: 0) {
          events.append(event)
        }
      }
      return events
    }
  }
}
