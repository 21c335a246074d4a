import Analysis
import JSON
import LiveEvents
import TestSupport
import Testing

/// Returns a steady chat with a rush of cheers at 600 s and variations of an advertisement.
private func chat() -> [WrittenMessage] {
  var random = SplitMix64(seed: 7)
  var messages: [WrittenMessage] = []
  func say(_ text: String, by user: Int, at milliseconds: Int64) {
    messages.append(
      WrittenMessage(
        timestamp: 1_700_000_000_000 + milliseconds,
        message: ChatMessage(
          id: "m\(messages.count)", userID: "u\(user)", userName: "User \(user)", text: text)))
  }
  let words = [
    "what", "a", "nice", "stream", "today", "music", "please", "louder", "hello", "song",
  ]
  for second in 0..<1_200 {
    let count = second / 20 == 30 ? 12 : 1
    for _ in 0..<count {
      let text = (0..<5).map { _ in words[Int(random.next() % 10)] }.joined(separator: " ")
      say(
        count > 1 ? "GOAL \(text)" : text, by: Int(random.next() % 100), at: Int64(second) * 1_000)
    }
    if second % 30 == 0 {
      say(
        "Buy cheap followers now at example dot com number \(second)!!!", by: 500,
        at: Int64(second) * 1_000)
      say(
        "buy CHEAP followers now at example dot com numbr \(second)", by: 501,
        at: Int64(second) * 1_000)
    }
  }
  return messages
}

/// Returns a chat with random arrivals, at a rate that may change from second to second.
private func murmur(seconds: Int, rate: (Int) -> Int) -> [WrittenMessage] {
  var random = SplitMix64(seed: 3)
  var messages: [WrittenMessage] = []
  for second in 0..<seconds {
    // A hundred trials, each with a hundredth of the rate as probability, approximate a Poisson
    // distribution.
    let count = (0..<100).count { _ in random.pick(0..<100) < rate(second) }
    for _ in 0..<count {
      messages.append(
        WrittenMessage(
          timestamp: 1_700_000_000_000 + Int64(second) * 1_000,
          message: ChatMessage(
            id: "m\(messages.count)", userID: "u", userName: "U", text: "hello there")))
    }
  }
  return messages
}

@Suite struct AnalysisTests {
  @Test
  func `a sudden rush of messages is a highlight, whose first word is the most common new word`()
    async throws
  {
    let result = try await analyze(.highlights, MessageList(chat())) { _, _ in }
    let peaks = try #require(result.json["highlights"]?.arrayValue)
    #expect(peaks.count == 1)
    let start = try #require(peaks.first?["startedAt"]?.integerValue) - 1_700_000_000_000
    #expect((585_000...605_000).contains(start))
    #expect(peaks.first?["words"]?.arrayValue?.first == "GOAL")
  }

  @Test func `in a busy chat, less than double the usual rate can be a highlight`() async throws {
    // 20 messages a second at random, but 40 a second for a quarter of a minute.
    let messages = murmur(seconds: 1_800) { (900..<915).contains($0) ? 40 : 20 }
    let result = try await analyze(.highlights, MessageList(messages)) { _, _ in }
    let peaks = try #require(result.json["highlights"]?.arrayValue)
    #expect(peaks.count == 1)
    let start = try #require(peaks.first?["startedAt"]?.integerValue) - 1_700_000_000_000
    #expect((890_000...905_000).contains(start))
  }

  @Test func `neither random variation nor a regular alternation of rates is a highlight`()
    async throws
  {
    for rate in [1, 5, 20] {
      let even = try await analyze(.highlights, MessageList(murmur(seconds: 7_200) { _ in rate })) {
        _, _ in
      }
      #expect(
        even.json["highlights"]?.arrayValue?.isEmpty == true, "\(rate) a second: \(even.lines)")
      #expect(even.lines.last?.contains("busiest") == true)
    }
    // The rate alternates every twenty seconds between 5 and 15 messages a second.
    let waves = try await analyze(
      .highlights, MessageList(murmur(seconds: 3_600) { $0 / 20 % 2 == 0 ? 5 : 15 })
    ) { _, _ in }
    let late = try #require(waves.json["highlights"]?.arrayValue).filter {
      ($0["startedAt"]?.integerValue ?? 0) > 1_700_000_060_000
    }
    #expect(late.isEmpty, "\(waves.lines)")
  }

  @Test func `variations of one advertisement form one cluster`() async throws {
    let result = try await analyze(.spam, MessageList(chat())) { _, _ in }
    let top = try #require(result.json["top"]?.arrayValue?.first)
    #expect(top["messages"] == 80)
    #expect(top["forms"] == 2)
  }

  @Test func `the list of chatters begins with the person who wrote the most messages`()
    async throws
  {
    let messages = chat()
    let result = try await analyze(.chatters, MessageList(messages)) { _, _ in }
    #expect(result.json["messages"]?.integerValue == Int64(messages.count))
    #expect(result.json["chatters"] == 102)
    #expect(
      ["u500", "u501"].contains(result.json["top"]?.arrayValue?.first?["id"]?.stringValue ?? ""))
  }

  @Test(arguments: AnalysisKind.allCases)
  func `an empty chat gives an empty result`(kind: AnalysisKind) async throws {
    let result = try await analyze(kind, MessageList([])) { _, _ in }
    #expect(result.json["messages"] == 0)
  }

  @Test(arguments: AnalysisKind.allCases)
  func `analysing the same messages twice gives equal results`(kind: AnalysisKind) async throws {
    let first = try await analyze(kind, MessageList(chat())) { _, _ in }
    let second = try await analyze(kind, MessageList(chat())) { _, _ in }
    #expect(first.json == second.json)
  }

  @Test(arguments: AnalysisKind.allCases)
  func `cancelling an analysis ends it with a CancellationError`(kind: AnalysisKind) async throws {
    let messages = (0..<20).flatMap { _ in chat() }
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await analyze(kind, MessageList(messages)) { _, _ in }
    }
    await #expect(throws: CancellationError.self) { _ = try await task.value }
  }
}
