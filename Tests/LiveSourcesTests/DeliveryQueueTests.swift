import BatchDelivery
import JSON
import RateLimiting
import TestSupport
import Testing

struct DeliveryQueueTests {
  /// A class around a queue, so that each call can be a separate expression.
  private final class Box {
    var queue: DeliveryQueue
    init(_ queue: DeliveryQueue) { self.queue = queue }
    func nextWrite() -> [UInt8]? { queue.nextWrite() }
    func acknowledge(_ token: String) -> Bool { queue.acknowledge(token: token) }
    func isFull() -> Bool { queue.isFull() }
    func append(_ text: String) { DeliveryQueueTests.append(text, to: &queue) }
  }

  private static func append(_ text: String, to queue: inout DeliveryQueue) {
    var text = text
    text.withUTF8 { queue.append(UnsafeRawBufferPointer($0), at: .origin) }
  }

  /// Returns the lines of a write. Native lines are abbreviated to their type and number.
  private static func lines(_ bytes: [UInt8]?) -> [String]? {
    bytes.map { bytes in
      bytes.split(separator: 0x0A).map { line in
        guard let value = try? JSONValue(parsing: Array(line)),
          let type = value["type"]?.stringValue
        else { return String(decoding: line, as: UTF8.self) }
        let detail = value["token"]?.stringValue ?? value["sequence"]?.integerValue.map(String.init)
        return "\(type) \(detail ?? "")"
      }
    }
  }

  @Test func `a written batch begins with a position line and ends with a sync line`() {
    let box = Box(DeliveryQueue(session: "s", maximumBytes: 1000))
    #expect(box.nextWrite() == nil)
    box.append("a")
    box.append("b")
    #expect(Self.lines(box.nextWrite()) == ["position 1", "a", "b", "sync s 1"])
    box.append("c")
    // The second batch waits for the answer to the first.
    #expect(box.nextWrite() == nil)
    #expect(box.acknowledge("s 1"))
    #expect(Self.lines(box.nextWrite()) == ["position 2", "c", "sync s 2"])
    #expect(box.queue.delivered == 2)
    #expect(box.queue.lines == 1)
  }

  @Test func `after a reconnection, unacknowledged lines are written again in the same batches`() {
    let box = Box(DeliveryQueue(session: "s", maximumBytes: 1 << 20))
    let long = String(repeating: "x", count: 64 * 1024)
    for name in ["a", "b", "c"] { box.append(name + long) }
    let writes = (0..<3).map { _ in box.nextWrite() }
    #expect(box.acknowledge("s 1"))
    box.queue.disconnected()
    box.append("d")
    #expect(box.nextWrite() == writes[1])
    #expect(box.nextWrite() == writes[2])
    #expect(box.nextWrite() == nil)
    // An answer in flight when the connection was lost never arrives.
    #expect(!box.acknowledge("s 1"))
    #expect(box.acknowledge("s 3"))
    #expect(Self.lines(box.nextWrite()) == ["position 4", "d", "sync s 4"])
  }

  @Test func `a delivery queue that reached its limit stays full until half of it is free`() {
    let box = Box(DeliveryQueue(session: "s", maximumBytes: 400_000))
    let line = String(repeating: "x", count: 99_999)
    for _ in 0..<3 { box.append(line) }
    #expect(!box.isFull())
    box.append(line)
    #expect(box.isFull())
    for number in 1...4 {
      _ = box.nextWrite()
      #expect(box.acknowledge("s \(number)"))
      #expect(box.isFull() == (number < 2))
    }
    #expect(box.queue.isEmpty)
  }

  @Test func `every line is delivered once, even if connections are lost at any time`() {
    for seed in UInt64(1)...100 {
      var generator = SplitMix64(seed: seed)
      var queue = DeliveryQueue(session: "s", maximumBytes: 1 << 20)
      var sent = 0
      // A room that keeps its position, like the daemon's rooms.
      var (received, position) = ([String](), 0)
      var answers: [String] = []
      func write() {
        guard let lines = Self.lines(queue.nextWrite()) else { return }
        let number = Int(lines[0].dropFirst("position ".count)) ?? 0
        if number > position {
          position = number
          received += lines.dropFirst().dropLast().map { String($0.prefix { $0 != "x" }) }
        }
        answers.append(String(lines[lines.count - 1].dropFirst("sync ".count)))
      }
      for _ in 0..<400 {
        switch generator.pick(0..<10) {
        case 0...3:
          let padding = String(repeating: "x", count: generator.oneIn(12) ? 40_000 : 0)
          Self.append("\(sent)\(padding)", to: &queue)
          sent += 1
        case 4...6: write()
        case 7, 8: if !answers.isEmpty { queue.acknowledge(token: answers.removeFirst()) }
        default:
          answers = []
          queue.disconnected()
        }
      }
      for _ in 0..<1000 where !queue.isEmpty {
        write()
        while !answers.isEmpty { queue.acknowledge(token: answers.removeFirst()) }
      }
      #expect(received == (0..<sent).map(String.init), "seed \(seed)")
      #expect(queue.delivered == sent)
    }
  }
}
