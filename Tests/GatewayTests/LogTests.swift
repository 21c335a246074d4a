import Gateway
import JSON
import LiveEvents
import RateLimiting
import Testing
import WireFormats

private func lines(_ names: String...) -> [UInt8] { names.flatMap { Array("\($0)\n".utf8) } }
private let main = RoomName("main")!
private func position(_ sequence: Int, of source: String = "s") -> BatchPosition {
  BatchPosition(source: Text(source), sequence: sequence)
}

@Suite struct PartitionTests {
  @Test func `the subject of a message in the replicated log names its room`() {
    for name in ["main", "a", "ab", "abc", "x.y-z_0", String(repeating: "q", count: 64)] {
      let room = RoomName(name)!
      let subject = Partition(of: room).logSubject(of: room)
      #expect(subject.split(separator: ".").count == 4)
      #expect(Partition.room(ofLogSubject: subject) == room)
    }
    #expect(Partition.room(ofLogSubject: "lh.log.1.*") == nil)
    #expect(Partition.room(ofLogSubject: "lh.view.1.bWFpbg") == nil)
  }

  @Test func `the partition of a room is computed from the room's name by a fixed rule`() {
    let counts = Dictionary(
      grouping: (0..<6400).map { Partition(of: RoomName("room\($0)")!) }, by: \.self)
    #expect(counts.count == Partition.count)
    #expect(counts.values.allSatisfy { (50...160).contains($0.count) })
    #expect(Partition(of: main).number == 42)
    #expect(Partition(number: 63).stream == "LH_LOG_7")
  }
}

@Suite struct LogAppenderTests {
  @Test
  func `each room has one message in flight, and batches arriving meanwhile form the next message`()
  {
    var appender = LogAppender<Int>(session: "g")
    appender.append(lines("a"), position: nil, in: main, receipt: 1)
    let first = appender.next(at: .origin)
    #expect(first.count == 1)
    appender.append(lines("b"), position: nil, in: main, receipt: 2)
    appender.append(lines("c"), position: nil, in: main, receipt: 3)
    #expect(appender.next(at: .origin).isEmpty)
    #expect(appender.stored(first[0].request) == [1])
    let second = appender.next(at: .origin)
    #expect(second.count == 1)
    #expect(LogMessage(bytes: second[0].body)?.lines == lines("b", "c"))
    #expect(appender.stored(second[0].request) == [2, 3])
    #expect(appender.isEmpty)
    #expect(appender.bytes == 0)
  }

  @Test func `a batch with a position gets its own message and keeps the position`() {
    var appender = LogAppender<Int>(session: "g")
    appender.append(lines("a"), position: position(4), in: main, receipt: 1)
    appender.append(lines("b"), position: position(5), in: main, receipt: 2)
    appender.append(lines("c"), position: nil, in: main, receipt: 3)
    let first = appender.next(at: .origin)[0]
    #expect(LogMessage(bytes: first.body) == LogMessage(position: position(4), lines: lines("a")))
    #expect(appender.stored(first.request) == [1])
    let second = appender.next(at: .origin)[0]
    #expect(LogMessage(bytes: second.body) == LogMessage(position: position(5), lines: lines("b")))
  }

  @Test func `a message that is not answered in time is sent again unchanged`() {
    var appender = LogAppender<Int>(session: "g")
    appender.append(lines("a"), position: nil, in: main, receipt: 1)
    let first = appender.next(at: .origin)[0]
    let late = Instant.origin + LogAppender<Int>.patience
    appender.tick(at: late)
    let second = appender.next(at: late)[0]
    #expect(second.body == first.body)
    #expect(appender.stored(second.request) == [1])
    #expect(appender.stored(first.request) == [])
  }

  @Test func `an answer acknowledges a message even if the message was sent again before`() {
    var appender = LogAppender<Int>(session: "g")
    appender.append(lines("a"), position: nil, in: main, receipt: 1)
    var now = Instant.origin
    let first = appender.next(at: now)[0]
    for _ in 0..<2 {
      now = now + LogAppender<Int>.patience
      appender.tick(at: now)
      #expect(appender.next(at: now).count == 1)
    }
    appender.append(lines("b"), position: nil, in: main, receipt: 2)
    #expect(appender.stored(first.request) == [1])
    // Answers to the other copies do not count for the next message.
    let next = appender.next(at: now)
    #expect(next.map(\.request) == [first.request + 3])
    #expect(appender.stored(first.request + 1) == [])
    appender.failed(first.request + 2, at: now)
    #expect(appender.stored(next[0].request) == [2])
    #expect(appender.isEmpty)
  }

  /// If both were in one message, the batch would be lost if the log already has the first copy.
  @Test(arguments: ["no answer", "connection lost"])
  func `while a message may have been lost, new batches are put into another message`(
    reason: String
  ) {
    var appender = LogAppender<Int>(session: "g")
    appender.append(lines("a"), position: nil, in: main, receipt: 1)
    let first = appender.next(at: .origin)[0]
    if reason == "no answer" {
      appender.failed(first.request, at: .origin)
    } else {
      appender.disconnected()
    }
    appender.append(lines("b"), position: nil, in: main, receipt: 2)
    let second = appender.next(at: .origin + .seconds(1))[0]
    #expect(second.body == first.body)
    #expect(appender.stored(second.request) == [1])
    let third = appender.next(at: .origin + .seconds(1))[0]
    #expect(LogMessage(bytes: third.body)?.lines == lines("b"))
  }

  @Test func `one receipt can acknowledge several batches`() {
    var appender = LogAppender<Int>(session: "g")
    let long = Array(repeating: UInt8(ascii: "x"), count: LogMessage.fullMessage)
    appender.append(long, position: nil, in: main, receipt: nil)
    appender.append(lines("b"), position: nil, in: main, receipt: 1)
    let first = appender.next(at: .origin)[0]
    #expect(appender.stored(first.request) == [])
    let second = appender.next(at: .origin)[0]
    #expect(appender.stored(second.request) == [1])
  }

  @Test func `a refused message is sent again after a pause, before later messages of the room`() {
    var appender = LogAppender<Int>(session: "g")
    appender.append(lines("a"), position: position(1), in: main, receipt: 1)
    appender.append(lines("b"), position: position(2), in: main, receipt: 2)
    let first = appender.next(at: .origin)[0]
    appender.failed(first.request, at: .origin)
    #expect(appender.next(at: .origin).isEmpty)
    let again = appender.next(at: .origin + .seconds(1))
    #expect(again.map(\.body) == [first.body])
  }

  @Test func `after the loss of a connection, every unanswered message is sent again`() {
    var appender = LogAppender<Int>(session: "g")
    let other = RoomName("other")!
    appender.append(lines("a"), position: nil, in: main, receipt: 1)
    appender.append(lines("b"), position: nil, in: other, receipt: 2)
    #expect(appender.next(at: .origin).count == 2)
    appender.disconnected()
    #expect(appender.next(at: .origin + .seconds(1)).count == 2)
    #expect(appender.repeated == 2)
  }

  @Test func `a batch without lines is acknowledged after the batches before it`() {
    var appender = LogAppender<Int>(session: "g")
    appender.append(lines("a"), position: nil, in: main, receipt: 1)
    let first = appender.next(at: .origin)[0]
    appender.append([], position: nil, in: main, receipt: 2)
    #expect(appender.stored(first.request) == [1])
    let second = appender.next(at: .origin)[0]
    #expect(appender.stored(second.request) == [2])
  }
}

@Suite struct LoggedBatchTests {
  private func messages(_ count: Int, length: Int) -> [LiveEvent] {
    (0..<count).map { number in
      LiveEvent(
        timestamp: 1,
        payload: .chat(
          .message(
            ChatMessage(
              id: "\(number)", userID: "u", userName: "u",
              text: String(repeating: "x", count: length)))))
    }
  }

  @Test func `many events are split into several messages that each fit a NATS server`() {
    let events = messages(30_000, length: 60)
    let batch = LoggedBatch(events, position: nil, in: main)
    #expect(batch.tooLong == 0)
    #expect(batch.messages.count > 50)
    #expect(batch.messages.allSatisfy { $0.count < 2 * LogMessage.fullMessage })
    let count = batch.messages.reduce(0) { $0 + $1.count { $0 == 0x0A } }
    #expect(count == 30_000)
  }

  @Test func `a batch with a position is one message, or is rejected if it is too long for one`() {
    let fits = LoggedBatch(messages(1_000, length: 500), position: position(1), in: main)
    #expect(fits.messages.count == 1 && fits.tooLong == 0)
    let long = LoggedBatch(messages(2_000, length: 500), position: position(1), in: main)
    #expect(long.messages.isEmpty && long.tooLong == 2_000)
  }

  @Test func `an event whose line is too long for a daemon is rejected`() {
    let events = messages(1, length: 10) + messages(1, length: 65_536) + messages(1, length: 10)
    let batch = LoggedBatch(events, position: nil, in: main)
    #expect(batch.tooLong == 1)
    #expect(batch.messages.map { $0.count { $0 == 0x0A } } == [2])
  }
}

@Suite struct LogMessageTests {
  @Test
  func `a refusal by a NATS server does not acknowledge a message, even with a sequence number`()
    throws
  {
    let stored = try JSONValue(parsing: Array(#"{"stream":"S","seq":7}"#.utf8))
    #expect(LogMessage.sequence(of: stored) == 7)
    let refused = try JSONValue(
      parsing: Array(#"{"error":{"code":503,"err_code":10008},"stream":"S","seq":0}"#.utf8))
    #expect(LogMessage.sequence(of: refused) == nil)
  }
}

@Suite struct LogFeedTests {
  private let partition = Partition(of: main)

  private func begun(held: Int = 0, daemonHasRoom: Bool = true) -> LogFeed {
    var feed = LogFeed()
    feed.begin(partition, [main: LogFeed.StartingPoint(held: held, daemonHasRoom: daemonHasRoom)])
    return feed
  }

  private func receive(
    _ feed: inout LogFeed, _ message: LogMessage, at sequence: UInt64
  ) {
    feed.received(
      message.bytes, sequence: sequence, room: main, partition: partition, log: "log",
      at: .origin)
  }

  @Test
  func `a partition has caught up once the daemon has all messages read before the query`() {
    var feed = begun(held: 256)
    var answers = [feed.hasCaughtUp(partition)]
    feed = begun()
    receive(&feed, LogMessage(position: position(1), lines: lines("a")), at: 1)
    answers.append(feed.hasCaughtUp(partition))
    _ = feed.nextWrite()
    // The partition has caught up although a newer batch is in flight.
    receive(&feed, LogMessage(position: position(2), lines: lines("b")), at: 2)
    _ = feed.nextWrite()
    answers.append(feed.hasCaughtUp(partition))
    feed.acknowledge("f1")
    answers.append(feed.hasCaughtUp(partition))
    #expect(answers == [true, false, false, true])
  }

  @Test func `a batch that is in the replicated log twice is sent to the daemon once`() {
    var feed = begun()
    receive(&feed, LogMessage(position: position(1), lines: lines("a")), at: 1)
    receive(&feed, LogMessage(position: position(1), lines: lines("a")), at: 2)
    receive(&feed, LogMessage(position: position(1, of: "t"), lines: lines("b")), at: 3)
    let text = String(decoding: feed.nextWrite() ?? [], as: UTF8.self)
    #expect(
      text == """
        {"type":"position","source":"log","sequence":256}
        a
        {"type":"position","source":"log","sequence":768}
        b
        {"type":"sync","token":"f1"}

        """)
    #expect(feed.duplicates == 1)
    #expect(feed.nextWrite() == nil)
    #expect(feed.acknowledge("f1") == true)
    #expect(feed.bytes == 0)
  }

  @Test func `a batch that the daemon already holds is not sent, and neither is its repetition`() {
    var feed = begun(held: 2 * 256)
    receive(&feed, LogMessage(position: position(1), lines: lines("a")), at: 1)
    receive(&feed, LogMessage(position: position(2), lines: lines("b")), at: 2)
    // A sender that got no answer sends the batch again, long after the period in which the servers
    // recognise repeated messages.
    receive(&feed, LogMessage(position: position(2), lines: lines("b")), at: 3)
    #expect(feed.nextWrite() == nil)
    receive(&feed, LogMessage(position: position(3), lines: lines("c")), at: 4)
    #expect(feed.nextWrite() != nil)
  }

  @Test
  func `a long message is sent to the daemon in parts, and after a crash only the missing parts`() {
    let line = String(repeating: "x", count: 999)
    let message = LogMessage(
      position: position(1), lines: Array(repeating: lines(line), count: 100).flatMap { $0 })
    let parts = message.parts
    #expect(parts.count == 4)
    #expect(parts.flatMap { $0 } == message.lines)
    // The daemon has two of the parts.
    var feed = begun(held: 5 * 256 + 1)
    receive(&feed, message, at: 5)
    let bytes = feed.nextWrite() ?? []
    #expect(
      bytes.split(separator: 0x0A).count { $0.count == 999 } == parts[2...].joined().count / 1000)
  }

  @Test func `a room that the daemon lacks is opened before its first events`() throws {
    var feed = begun(daemonHasRoom: false)
    receive(&feed, LogMessage(position: position(1), lines: lines("a")), at: 1)
    receive(&feed, LogMessage(position: position(2), lines: lines("b")), at: 2)
    #expect(feed.nextWrite() == nil)
    let opening = try #require(feed.nextActs().first)
    #expect(opening.isOpening && opening.act.kind == .open && opening.code == 255)
    #expect(feed.isActing(opening))
    feed.ended(opening)
    #expect(feed.nextWrite()?.split(separator: 0x0A).count == 5)
    feed.acknowledge("f1")
    // The room is also opened again after it was closed.
    receive(&feed, LogMessage(position: position(3), lines: Self.closing.line), at: 3)
    receive(&feed, LogMessage(position: position(4), lines: lines("c")), at: 4)
    let closing = try #require(feed.nextActs().first)
    feed.ended(closing, isGone: true)
    #expect(feed.nextWrite() == nil)
    #expect(feed.nextActs().map(\.isOpening) == [true])
  }

  /// If it got events, the daemon could open the room without its beginning once there is space for
  /// another room.
  @Test
  func `a room that the daemon refuses to open gets no events until its partition is reloaded`()
    throws
  {
    var feed = begun(daemonHasRoom: false)
    receive(&feed, LogMessage(position: position(1), lines: lines("a")), at: 1)
    let opening = try #require(feed.nextActs().first)
    feed.ended(opening, isGone: true)
    #expect(feed.refused == [main])
    receive(&feed, LogMessage(position: position(2), lines: lines("b")), at: 2)
    #expect(feed.nextWrite() == nil && feed.nextActs().isEmpty && feed.bytes == 0)
    // The refused room has nothing to store.
    let due = feed.nextSnapshot(every: .seconds(60), or: 1, at: .origin + .seconds(100))
    #expect(due == nil)
    feed.end(partition)
    feed.begin(partition, [:])
    #expect(feed.refused.isEmpty)
    receive(&feed, LogMessage(position: position(1), lines: lines("a")), at: 1)
    receive(&feed, LogMessage(position: position(2), lines: lines("b")), at: 2)
    feed.ended(try #require(feed.nextActs().first))
    #expect(feed.nextWrite()?.split(separator: 0x0A).count == 5)
    #expect(feed.hasInFlight(main))
  }

  @Test
  func `a room missing at the daemon counts as refused unless a host action may have closed it`()
    throws
  {
    var feed = begun()
    let act = LoggedAct(try #require(Self.admission), answer: "")
    receive(&feed, LogMessage(position: position(1), lines: act.line), at: 1)
    let acts = feed.nextActs()
    // The host action in progress may have closed the room; afterwards, no snapshot is in progress.
    feed.beginSnapshot(of: main, partition)
    var isRefused = [feed.refuse(main, partition)]
    feed.failSnapshot(of: main, partition, until: .origin)
    feed.ended(try #require(acts.first))
    isRefused.append(feed.refuse(main, partition))
    feed.beginSnapshot(of: main, partition)
    isRefused.append(feed.refuse(main, partition))
    #expect(isRefused == [false, false, true])
  }

  @Test func `a host action on a closed room does not open the room`() throws {
    var feed = begun()
    receive(&feed, LogMessage(position: position(1), lines: lines("a")), at: 1)
    receive(&feed, LogMessage(position: position(2), lines: Self.closing.line), at: 2)
    let act = LoggedAct(try #require(Self.admission), answer: "")
    receive(&feed, LogMessage(position: position(3), lines: act.line), at: 3)
    _ = feed.nextWrite()
    feed.acknowledge("f1")
    for _ in 0..<2 {
      let acts = feed.nextActs()
      try #require(acts.count == 1)
      feed.ended(acts[0], isGone: true)
    }
    let isRefused = feed.refuse(main, partition)
    let gone = feed.beginSnapshot(of: main, partition)
    #expect(!isRefused && gone == 3 * 256)
  }

  private static let closing = LoggedAct(.close, answer: "")
  private static let admission = (try? JSONValue(parsing: Array(#"{"type":"host.admit"}"#.utf8)))
    .map { LoggedAct.Kind.event($0) }

  /// If it counted, the host action would be performed before earlier events.
  @Test func `acknowledgements from before a partition was reloaded do not count afterwards`()
    throws
  {
    var feed = begun()
    receive(&feed, LogMessage(position: position(1), lines: lines("a")), at: 1)
    _ = feed.nextWrite()
    feed.end(partition)
    feed.begin(partition, [main: LogFeed.StartingPoint(held: 0, daemonHasRoom: true)])
    receive(&feed, LogMessage(position: position(1), lines: lines("a")), at: 1)
    let act = LoggedAct(.open, answer: "")
    receive(&feed, LogMessage(position: position(2), lines: act.line), at: 2)
    _ = feed.nextWrite()
    feed.acknowledge("f1")
    #expect(feed.nextActs().isEmpty)
    feed.acknowledge("f2")
    #expect(feed.nextActs().map(\.code) == [2 * 256])
  }

  @Test func `messages of a partition that the node no longer owns are ignored`() {
    var feed = begun()
    feed.end(partition)
    receive(&feed, LogMessage(position: position(1), lines: lines("a")), at: 1)
    #expect(feed.nextWrite() == nil)
  }
}

@Suite struct LogConsumerTests {
  private func reply(_ sequence: Int, _ delivered: Int, pending: Int, name: String = "C") -> String
  {
    "$JS.ACK.LH_LOG_0.\(name).1.\(sequence).\(delivered).0.\(pending)"
  }

  private func pulling(after: UInt64 = 0) -> LogConsumer {
    var consumer = LogConsumer(
      stream: "LH_LOG_0", filter: "lh.log.0.>", after: after, at: .origin)
    _ = consumer.tick(at: .origin)
    consumer.created(["name": "C", "num_pending": 3], at: .origin)
    _ = consumer.tick(at: .origin)
    return consumer
  }

  @Test func `messages from the replicated log are accepted in order`() {
    var consumer = pulling()
    #expect(consumer.received(reply: reply(4, 1, pending: 1), at: .origin)?.sequence == 4)
    #expect(!consumer.isCurrent)
    #expect(consumer.received(reply: reply(9, 2, pending: 0), at: .origin)?.sequence == 9)
    #expect(consumer.isCurrent)
  }

  @Test func `acknowledgement subjects in the longer form of newer NATS servers are parsed`() {
    var consumer = pulling()
    let subject = "$JS.ACK._.hash.LH_LOG_0.C.1.4.1.0.2.random"
    #expect(consumer.received(reply: subject, at: .origin)?.sequence == 4)
  }

  @Test func `after a gap in the messages, a new consumer starts at the first missing message`() {
    var consumer = pulling()
    #expect(consumer.received(reply: reply(4, 1, pending: 9), at: .origin)?.sequence == 4)
    #expect(consumer.received(reply: reply(6, 3, pending: 9), at: .origin)?.sequence == nil)
    guard case .create(_, let body)? = consumer.tick(at: .origin + .seconds(1)) else {
      Issue.record("no other consumer is created")
      return
    }
    #expect(body["config"]?["opt_start_seq"]?.integerValue == 5)
    // Late messages of the first consumer are ignored by the second.
    #expect(consumer.received(reply: reply(5, 2, pending: 9), at: .origin)?.sequence == nil)
  }

  @Test func `a consumer that receives nothing is replaced by a new one`() {
    var consumer = pulling()
    #expect(consumer.tick(at: .origin + .seconds(3)) == nil)
    guard case .create? = consumer.tick(at: .origin + .seconds(4)) else {
      Issue.record("the silent consumer is not replaced")
      return
    }
  }

  @Test func `when the byte limit of a pull request is used up, another pull request follows`() {
    var consumer = pulling()
    consumer.ended(status: 409, reason: "Message Size Exceeds MaxBytes", at: .origin)
    guard case .pull(_, let body)? = consumer.tick(at: .origin) else {
      Issue.record("the consumer is created once more instead")
      return
    }
    // The longest message of the log fits.
    #expect(body["max_bytes"]?.integerValue ?? 0 >= 2 * LogMessage.maximumBytes)
    consumer.ended(status: 409, reason: "Consumer Deleted", at: .origin)
    guard case .create? = consumer.tick(at: .origin) else {
      Issue.record("a deleted consumer is not created again")
      return
    }
  }

  @Test func `a paused reader of the replicated log requests no messages`() {
    var consumer = pulling()
    consumer.ended(status: 408, at: .origin)
    #expect(consumer.tick(isPaused: true, at: .origin) == nil)
    #expect(consumer.tick(at: .origin) != nil)
  }
}
