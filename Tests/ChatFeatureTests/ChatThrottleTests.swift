import ChatFeature
import LiveEvents
import RateLimiting
import TestSupport
import Testing
import Throttling

@Suite struct ChatThrottleTests {
  @Test func `all chat messages of one frame are delivered as one action`() {
    var throttle = ChatThrottle(ThrottlePolicies([.chat: .init(interval: .milliseconds(16))]))
    var output = ThrottleOutput<ChatFeature.Action>()
    let batch = [message(1, at: 5), message(2, at: 4)]
    for one in batch { throttle.receive(one, at: .origin, into: &output) }
    #expect(output.actions.isEmpty)
    #expect(throttle.pending == 2)
    #expect(throttle.deadline == .origin + .milliseconds(16))
    throttle.wake(at: .origin + .milliseconds(15), into: &output)
    #expect(output.actions.isEmpty)
    throttle.wake(at: .origin + .milliseconds(16), into: &output)
    #expect(output.actions == [.messages(batch)])
    #expect(output.applied == 2)
    #expect(throttle.deadline == nil)
  }

  @Test func `moderation never overtakes earlier messages`() {
    let passing: [(ChatEvent, ChatFeature.Action)] = [
      (.delete(messageID: "m1"), .messageDeleted("m1", at: 9)),
      (.clear, .cleared(at: 9)),
      (.timeout(timeout("ann")), .timedOut(timeout("ann"), at: 9)),
      (.notice(notice(.raid)), .notice(notice(.raid), at: 9)),
      (.modes(ChatModes(emoteOnly: true)), .modesChanged(ChatModes(emoteOnly: true))),
    ]
    for (event, action) in passing {
      var throttle = ChatThrottle()
      var output = ThrottleOutput<ChatFeature.Action>()
      throttle.receive(message(1, at: 5), at: .origin, into: &output)
      throttle.receive(event, timestamp: 9, at: .origin, into: &output)
      #expect(output.actions == [.messages([message(1, at: 5)]), action])
      #expect(output.applied == 2)
      #expect(throttle.pending == 0)
    }
  }

  @Test func `a full batch of chat messages is delivered before the next frame`() {
    var throttle = ChatThrottle(
      ThrottlePolicies([.chat: .init(interval: ThrottlePolicies.frame, capacity: 3)]))
    var output = ThrottleOutput<ChatFeature.Action>()
    for id in 0..<7 { throttle.receive(message(id, at: 0), at: .origin, into: &output) }
    #expect(output.actions.count == 2)
    #expect(output.applied == 6)
    #expect(throttle.pending == 1)
  }

  @Test func `chat messages with long texts are delivered early under any throttle policy`() {
    var throttle = ChatThrottle(ThrottlePolicies([.chat: .init(interval: .seconds(3600))]))
    var output = ThrottleOutput<ChatFeature.Action>()
    let text = String(repeating: "x", count: 1 << 16)
    let count = HeldBytes.limit >> 16
    for id in 1..<count {
      throttle.receive(message(id, at: 0, text), at: .origin, into: &output)
    }
    #expect(output.actions.isEmpty)
    for id in 0...count {
      throttle.receive(message(id, at: 0, text), at: .origin, into: &output)
    }
    // The count restarts after each delivery.
    #expect(output.actions.count == 2)
    #expect(throttle.pending < count)
  }

  /// Every event is accounted for at all times, and the output is the input, in order.
  @Test(arguments: 1...20) func `the chat throttle keeps all messages, and keeps them in order`(
    seed: UInt64
  ) {
    var random = SplitMix64(seed: seed)
    var throttle = ChatThrottle(
      ThrottlePolicies([.chat: .init(interval: .milliseconds(16), capacity: 20)]))
    var output = ThrottleOutput<ChatFeature.Action>()
    var now = Instant.origin
    var sent: [String] = []
    for id in 0..<2_000 {
      now = now + .microseconds(Int64.random(in: 0..<4_000, using: &random))
      if Int.random(in: 0..<20, using: &random) == 0 {
        throttle.receive(.delete(messageID: Text("d\(id)")), timestamp: 0, at: now, into: &output)
        sent.append("d\(id)")
      } else {
        throttle.receive(message(id, at: 0), at: now, into: &output)
        sent.append("m\(id)")
      }
      if Int.random(in: 0..<3, using: &random) == 0 { throttle.wake(at: now, into: &output) }
      #expect(output.applied + output.coalesced + throttle.pending == id + 1)
    }
    throttle.flush(at: now, into: &output)
    let came = output.actions.flatMap { action in
      switch action {
      case .messages(let batch): batch.map { String($0.message.id) }
      case .messageDeleted(let id, _): [String(id)]
      case .cleared, .timedOut, .notice, .modesChanged, .ticked, .reading, .reviewContinued,
        .analysisWanted, .analysisResumed, .analysed, .actsChanged:
        ["unexpected"]
      }
    }
    #expect(came == sent)
  }
}

extension ChatThrottle {
  fileprivate mutating func receive(
    _ message: TimedMessage, at now: Instant, into output: inout ThrottleOutput<Action>
  ) {
    receive(.message(message.message), timestamp: message.timestamp, at: now, into: &output)
  }
}
