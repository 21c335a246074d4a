import Analysis
import LiveEvents
import Testing

@Suite struct BurstFinderTests {
  /// A chat that is searched batch by batch, with the bursts of duplicates found so far.
  private struct Chat {
    var finder = BurstFinder()
    var run = 0
    var end = 0
    var waves: [BurstSearch.Wave] = []
    var newest = 0

    mutating func search(_ texts: [String], at time: Timestamp = 1_000) async throws -> ChatFindings
    {
      var batch = MessageBatch(first: end)
      for text in texts {
        let message = ChatMessage(id: "m", userID: "u", userName: "U", text: text)
        let isTaken = batch.append(message, at: time)
        #expect(isTaken)
      }
      end = batch.end
      run += 1
      let findings = try await finder.find(
        BurstSearch(run: run, batch: batch, waves: waves, newest: newest))
      for sample in findings.samples {
        newest += 1
        waves.append(BurstSearch.Wave(number: newest, sample: String(sample)))
      }
      for merger in findings.mergers { waves.removeAll { $0.number == merger.burst } }
      return findings
    }
  }

  private let advert = "Buy cheap followers at example dot com"

  private func members(_ rows: (Int, Int, Int)...) -> [ChatFindings.Members] {
    rows.map { ChatFindings.Members(offset: $0.0, count: $0.1, burst: $0.2) }
  }

  /// Returns a text that resembles none of the texts for other numbers.
  private func other(_ number: Int) -> String {
    var rest = UInt64(number + 1) &* 0x9E37_79B9_7F4A_7C15
    return String(
      String.UnicodeScalarView(
        (0..<24).map { _ in
          rest = rest &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
          return UnicodeScalar(UInt8(97 + (rest >> 40) % 26))
        }))
  }

  @Test
  func `five nearly identical messages are a burst of duplicates, which grows from batch to batch`()
    async throws
  {
    var chat = Chat()
    var found = try await chat.search([advert, "hello there everyone", advert.uppercased()])
    #expect(found == ChatFindings(run: 1))
    found = try await chat.search([advert + "!", "gg", advert + " 17", advert])
    #expect(found.samples == [Text(advert)])
    #expect(found.members == members((-3, 1, 1), (-1, 2, 1), (2, 2, 1)))
    found = try await chat.search([other(1), advert + " 99"])
    #expect(found == ChatFindings(run: 3, members: members((1, 1, 1))))
  }

  @Test func `equal messages that are written minutes apart are not a burst of duplicates`()
    async throws
  {
    var chat = Chat()
    for minute in 1...9 {
      let found = try await chat.search([advert], at: Timestamp(minute) * 60_000)
      #expect(found == ChatFindings(run: minute))
    }
    let found = try await chat.search([advert, advert, advert, advert], at: 540_000)
    #expect(found.samples.count == 1)
    #expect(found.members == members((-1, 5, 1)))
  }

  @Test func `repeated short texts are not a burst of duplicates`() async throws {
    var chat = Chat()
    let found = try await chat.search(Array(repeating: "GG 123456", count: 99))
    #expect(found == ChatFindings(run: 1))
  }

  @Test
  func `after a restart a burst of duplicates is recognised by its sample and keeps its number`()
    async throws
  {
    var chat = Chat()
    // Cut within a character.
    let long = String(repeating: "né", count: 20) + advert + String(repeating: "é", count: 300)
    _ = try await chat.search(Array(repeating: other(1), count: 5))
    _ = try await chat.search(Array(repeating: long, count: 5))
    #expect(chat.waves.map(\.number) == [1, 2])
    #expect(chat.waves.allSatisfy { $0.sample.utf8.count <= ChatFindings.sampleLength })
    #expect(!chat.waves[1].sample.contains("\u{FFFD}"))
    chat.finder = BurstFinder()
    let found = try await chat.search([long + "!", other(1)])
    #expect(found == ChatFindings(run: 3, members: members((0, 1, 2), (1, 1, 1))))
  }

  @Test func `a burst of duplicates that recurs after its end gets a new number`() async throws {
    var chat = Chat()
    _ = try await chat.search(Array(repeating: advert, count: 9))
    chat.waves = []
    var found = try await chat.search(Array(repeating: advert, count: 4))
    #expect(found == ChatFindings(run: 2))
    found = try await chat.search([advert])
    #expect(found.samples.count == 1 && found.members == members((-4, 5, 2)))
  }

  @Test func `a text similar to two bursts of duplicates merges them into one`() async throws {
    var chat = Chat()
    let (one, two) = (other(1) + other(2) + other(3), other(3) + other(4) + other(5))
    _ = try await chat.search(Array(repeating: one, count: 5) + Array(repeating: two, count: 5))
    #expect(chat.waves.map(\.number) == [1, 2])
    // The texts change step by step from one burst's text to the other's.
    let (start, end) = (Array(one), Array(two))
    let steps = (0...start.count).map { String(end.prefix($0) + start.dropFirst($0)) }
    let found = try await chat.search(steps)
    #expect(found.mergers == [.init(burst: 2, into: 1)])
    #expect(found.members.reduce(0) { $0 + $1.count } == steps.count)
    let next = try await chat.search([two])
    #expect(next == ChatFindings(run: 3, members: members((0, 1, 1))))
  }

  @Test
  func `a burst of duplicates is still recognised after the finder has forgotten other texts`()
    async throws
  {
    var chat = Chat()
    _ = try await chat.search(Array(repeating: advert, count: 5))
    for part in 0..<5 {
      let found = try await chat.search((0..<4_000).map { other(part * 4_000 + $0) } + [advert])
      #expect(found == ChatFindings(run: part + 2, members: members((4_000, 1, 1))))
    }
  }

  @Test
  func `at most a fixed number of bursts begin in one run, and further bursts begin in the next`()
    async throws
  {
    var chat = Chat()
    let texts = (0..<20).flatMap { Array(repeating: other($0), count: 5) }
    let (first, second) = (try await chat.search(texts), try await chat.search(texts))
    #expect(first.samples.count == ChatFindings.burstLimit)
    #expect(second.samples.count == 4)
  }

  @Test func `cancelling a search for bursts ends it with a CancellationError`() async throws {
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      var chat = Chat()
      return try await chat.search((0..<8_192).map { other($0) })
    }
    await #expect(throws: CancellationError.self) { _ = try await task.value }
  }

  @Test func `the messages of a batch are limited in number and in bytes`() {
    var batch = MessageBatch()
    let long = ChatMessage(
      id: "m", userID: "u", userName: "U", text: String(repeating: "long ", count: 1_000))
    while batch.append(long, at: 0) {}
    #expect(batch.count == MessageBatch.byteLimit / 512)
    batch = MessageBatch()
    let short = ChatMessage(id: "m", userID: "u", userName: "U", text: "gg")
    while batch.append(short, at: 0) {}
    #expect(batch.count == ChatFindings.batchLimit)
  }
}
