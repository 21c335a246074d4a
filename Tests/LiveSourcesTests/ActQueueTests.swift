import LiveEvents
import LiveSources
import Testing

struct ActQueueTests {
  private static func request(_ number: Int) throws -> ActRequest {
    ActRequest(identifier: "main/\(number)", act: try PlatformAct(.say, text: "hi"))
  }

  @Test func `acts start in their order, and at most a few are in flight`() throws {
    var queue = ActQueue(maximumInFlight: 2, maximumWaiting: 8)
    for number in 1...4 {
      let isAccepted = queue.add(try Self.request(number))
      #expect(isAccepted)
    }
    #expect(queue.next()?.identifier == "main/1")
    #expect(queue.next()?.identifier == "main/2")
    #expect(queue.next() == nil)
    let isWanted = queue.end("main/1")
    #expect(isWanted)
    #expect(queue.next()?.identifier == "main/3")
    #expect(queue.next() == nil)
  }

  @Test func `a full queue accepts no act`() throws {
    var queue = ActQueue(maximumInFlight: 1, maximumWaiting: 2)
    let accepted = try (1...3).map { queue.add(try Self.request($0)) }
    #expect(accepted == [true, true, false])
  }

  @Test func `a waiting act that was withdrawn never starts`() throws {
    var queue = ActQueue(maximumInFlight: 1, maximumWaiting: 2)
    for number in 1...2 { _ = queue.add(try Self.request(number)) }
    queue.withdraw("main/1")
    #expect(queue.next()?.identifier == "main/2")
  }

  @Test func `the outcome of an act that was withdrawn in flight is not wanted`() throws {
    var queue = ActQueue(maximumInFlight: 1, maximumWaiting: 2)
    for number in 1...2 { _ = queue.add(try Self.request(number)) }
    _ = queue.next()
    queue.withdraw("main/1")
    // The act still occupies its place, because its request continues.
    #expect(queue.next() == nil)
    let isWanted = queue.end("main/1")
    #expect(!isWanted)
    #expect(queue.next()?.identifier == "main/2")
    let isRepeatWanted = queue.end("main/1")
    #expect(!isRepeatWanted)
  }
}
