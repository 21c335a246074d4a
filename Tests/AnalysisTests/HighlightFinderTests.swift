import Analysis
import JSON
import LiveEvents
import TestSupport
import Testing

private let origin: Timestamp = 1_700_000_000_000

/// Returns two messages a second for six minutes, but 15 a second during 15 seconds of cheers.
private func match() -> [WrittenMessage] {
  (0..<375).flatMap { second -> [WrittenMessage] in
    let isGoal = (300..<315).contains(second)
    return (0..<(isGoal ? 15 : 2)).map { number in
      written(
        isGoal && number > 2 ? "GOAL  what a shot" : "quiet word\(second % 7) here",
        at: origin + Timestamp(second) * 1_000 + Timestamp(number) * 60)
    }
  }
}

private func written(_ text: String, at time: Timestamp) -> WrittenMessage {
  WrittenMessage(
    timestamp: time, message: ChatMessage(id: "m", userID: "u", userName: "U", text: text))
}

/// A chat that is searched for highlights while it runs.
private struct RunningChat {
  let finders = KeptFinders()
  var run = 0
  var end = 0
  var timeline = HighlightTimeline()

  @discardableResult
  mutating func take(_ messages: some Collection<WrittenMessage>) async throws -> [ChatHighlight] {
    var batch = MessageBatch(first: end)
    for message in messages {
      let isTaken = batch.append(message.message, at: message.timestamp)
      #expect(isTaken)
    }
    end = batch.end
    run += 1
    let found = try await finders.find(BurstSearch(run: run, batch: batch, waves: [], newest: 0))
    #expect(found.run == run)
    for highlight in found.highlights { timeline.note(highlight) }
    return found.highlights
  }
}

@Suite struct HighlightFinderTests {
  private func highlights(_ messages: [WrittenMessage]) async throws -> [ChatHighlight] {
    var chat = RunningChat()
    try await chat.take(messages)
    return chat.timeline.entries
  }

  @Test(arguments: [1, 7, 64, 8_192])
  func `a running chat, in batches of any size, has the same highlights as its recording`(size: Int)
    async throws
  {
    let messages = match()
    var chat = RunningChat()
    var (next, seen) = (0, 0)
    while next < messages.count {
      let end = min(next + size, messages.count)
      seen += try await chat.take(messages[next..<end]).count
      next = end
    }
    let highlight = try #require(chat.timeline.entries.first)
    #expect(chat.timeline.total == 1 && highlight.words.first == "GOAL")
    #expect(highlight.busiest == 150 && highlight.usual == 20)
    #expect((origin + 291_000...origin + 300_000).contains(highlight.startedAt))
    // The highlight is reported again only while it grows.
    #expect(seen <= 30)
    let recorded = try await analyze(.highlights, MessageList(messages)) { _, _ in }
    let running = AnalysisResult(highlights: chat.timeline.entries, messages: messages.count)
    #expect(running.json["highlights"] == recorded.json["highlights"])
    #expect(running.lines == recorded.lines)
  }

  @Test func `a highlight is found before it has ended`() async throws {
    var chat = RunningChat()
    try await chat.take(match().filter { $0.timestamp < origin + 308_000 })
    #expect(chat.timeline.entries.map(\.endedAt) == [origin + 307_000])
  }

  @Test
  func `messages that arrive 8 seconds late are counted, but messages 30 seconds late are not`()
    async throws
  {
    let messages = match()
    let inTime = try await highlights(messages)
    func delayed(_ seconds: Int) -> [WrittenMessage] {
      messages.enumerated().sorted { left, right in
        func order(_ entry: (offset: Int, element: WrittenMessage)) -> Timestamp {
          entry.element.timestamp + (entry.offset % 2 == 0 ? Timestamp(seconds) * 1_000 : 0)
        }
        return order(left) < order(right)
      }.map(\.element)
    }
    let late = try await highlights(delayed(8))
    #expect(late.map(\.busiest) == inTime.map(\.busiest))
    #expect(late.map(\.messages) == inTime.map(\.messages))
    let lost = try await highlights(delayed(30))
    #expect(lost.first.map(\.busiest) ?? 0 < 100)
  }

  @Test
  func `highlights are still found after a clock was set back or one timestamp was far ahead`()
    async throws
  {
    let ahead = [written("ahead", at: origin + 40_000_000)]
    let found = try await highlights(ahead + match())
    #expect(found.count == 1 && found.first?.words.first == "GOAL")
    // A day of silence does not delay the search.
    let next = match().map { written(String($0.message.text), at: $0.timestamp + 86_400_000) }
    let both = try await highlights(match() + next)
    #expect(both.map(\.busiest).contains(150))
    #expect(both.last?.startedAt ?? 0 > origin + 86_400_000)
    #expect(both.count { $0.words.first == "GOAL" } == 2)
    // Seconds before 1970 are also distinguished.
    let early = match().map { written(String($0.message.text), at: $0.timestamp - 2 * origin) }
    #expect(try await highlights(early).map(\.busiest) == [150])
  }

  @Test func `a highlight keeps its word even if there are more words than the finder stores`()
    async throws
  {
    var number = 0
    let messages = match().map { message in
      let words = (0..<40).map { _ in
        number += 1
        return "x\(number)"
      }
      return written(
        String(message.message.text) + " " + words.joined(separator: " "), at: message.timestamp)
    }
    #expect(try await highlights(messages).first?.words.first == "GOAL")
  }

  @Test func `if a batch was skipped, the search starts again without the earlier messages`()
    async throws
  {
    var chat = RunningChat()
    let messages = match()
    try await chat.take(messages.filter { $0.timestamp < origin + 300_000 })
    chat.run += 1
    try await chat.take(messages.filter { $0.timestamp >= origin + 300_000 })
    #expect(chat.timeline.entries.isEmpty)
  }

  @Test func `after a cancelled search, the next search starts again and finds the highlight`()
    async throws
  {
    let finders = KeptFinders()
    var batch = MessageBatch()
    for message in match() { _ = batch.append(message.message, at: message.timestamp) }
    let task = Task { [batch] in
      withUnsafeCurrentTask { $0?.cancel() }
      return try await finders.find(
        BurstSearch(run: 1, batch: batch, waves: [], newest: 0), sliceNanoseconds: 0)
    }
    await #expect(throws: CancellationError.self) { _ = try await task.value }
    let search = BurstSearch(run: 1, batch: batch, waves: [], newest: 0)
    #expect(try await finders.find(search).highlights.count == 1)
  }

  @Test func `a timeline keeps the newest highlights, and their numbers do not change`() {
    func highlight(_ number: Int, words: [Text] = []) -> ChatHighlight {
      ChatHighlight(
        startedAt: Timestamp(number) * 60_000, seconds: 20, messages: number, busiest: 30, usual: 5,
        words: words)
    }
    var timeline = HighlightTimeline()
    for number in 1...100 { timeline.note(highlight(number, words: ["a"])) }
    #expect(timeline.entries.count == HighlightTimeline.limit && timeline.total == 100)
    #expect(timeline.entries.first == highlight(37, words: ["a"]))
    #expect(timeline.numbered(last: 2).map(\.number) == [99, 100])
    // The newest highlight has grown, but the finder has forgotten its words.
    var longer = highlight(100)
    longer.seconds = 25
    timeline.note(longer)
    #expect(timeline.total == 100 && timeline.entries.last?.seconds == 25)
    #expect(timeline.entries.last?.words == ["a"])
    longer.words = ["b"]
    timeline.note(longer)
    #expect(timeline.entries.last?.words == ["b"])
    // A highlight is found that began before the newest one.
    timeline.note(
      ChatHighlight(startedAt: 5_970_000, seconds: 5, messages: 9, busiest: 9, usual: 1))
    #expect(timeline.total == 101 && timeline.entries.last == longer)
    #expect(timeline.entries.map(\.startedAt) == timeline.entries.map(\.startedAt).sorted())
  }
}
