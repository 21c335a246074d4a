import JSON
import LiveSources
import RateLimiting
import Testing
import Webhooks

/// Tests when senders get an answer, and which one.
struct WebhookSessionTests {
  /// A session, the number of its lines that were passed to the daemon, and the number that the
  /// daemon has acknowledged.
  private struct Driver {
    var session: WebhookSession
    var submitted = 0
    var acknowledged = 0
    var answers: [Int: Int] = [:]
    var gaps: [String] = []
    var statuses: [SourceStatus] = []
    var now = Instant.origin

    init(identified: Bool = true) throws {
      let table =
        (identified ? "identifier: id\n" : "")
        + "reply: '0'\nevents: [{when: {kind: v}, type: viewers, members: {count: n}}]"
      session = WebhookSession(
        try WebhookMapping(table, file: "m.yaml"), address: "127.0.0.1:1")
      session.opened()
      settle()
    }

    mutating func send(_ request: Int, _ body: String) throws {
      session.receive(
        request, WebhookDelivery(body: try JSONValue(parsing: body)), bytes: Array(body.utf8),
        queue: (submitted, acknowledged), at: now)
      settle()
    }

    mutating func acknowledge(_ count: Int) {
      acknowledged = count
      session.acknowledged(count)
      settle()
    }

    mutating func wait(_ seconds: Int64) {
      now = now + .seconds(seconds)
      session.wake(at: now)
      settle()
    }

    mutating func settle() {
      for effect in session.takeEffects() {
        switch effect {
        case .deliver(let lines): submitted += lines.count
        case .answer(let id, let answer): answers[id] = answer.status
        case .gap(_, _, let reason): gaps.append(reason)
        case .status(let status): statuses.append(status)
        }
      }
    }
  }

  @Test func `a delivery is answered with success once the daemon has acknowledged it`() throws {
    var driver = try Driver()
    try driver.send(1, #"{"kind":"v","id":"a","n":1}"#)
    try driver.send(2, #"{"kind":"v","id":"b","n":2}"#)
    #expect(driver.answers.isEmpty)
    driver.acknowledge(1)
    #expect(driver.answers == [1: 200])
    driver.acknowledge(2)
    #expect(driver.answers == [1: 200, 2: 200])
    #expect(driver.session.forwarded == 2)
  }

  @Test(arguments: [true, false])
  func `while the daemon is slow, senders repeat their deliveries, which are counted once`(
    identified: Bool
  ) throws {
    var driver = try Driver(identified: identified)
    try driver.send(1, #"{"kind":"v","id":"a","n":1}"#)
    driver.wait(5)
    #expect(driver.answers == [1: 503])
    // The repeat must not be confirmed before the first delivery is safe.
    try driver.send(2, #"{"kind":"v","id":"a","n":1}"#)
    #expect(driver.submitted == 1)
    #expect(driver.answers[2] == nil)
    driver.acknowledge(1)
    #expect(driver.answers[2] == 200)
    #expect(driver.session.duplicates == 1)
    #expect(driver.session.forwarded == 1)
  }

  @Test func `a sender that disconnected can repeat its delivery, which is counted once`() throws {
    var driver = try Driver(identified: false)
    try driver.send(1, #"{"kind":"v","n":1}"#)
    driver.session.left(1)
    driver.acknowledge(1)
    #expect(driver.answers.isEmpty)
    try driver.send(2, #"{"kind":"v","n":1}"#)
    #expect(driver.answers == [2: 200])
    #expect(driver.submitted == 1)
  }

  @Test func `equal deliveries without an identifier are distinct after the first was answered`()
    throws
  {
    var driver = try Driver(identified: false)
    for request in 1...3 {
      try driver.send(request, #"{"kind":"v","n":1}"#)
      driver.acknowledge(request)
    }
    #expect(driver.submitted == 3)
    #expect(driver.session.duplicates == 0)
  }

  @Test func `while the daemon accepts nothing, deliveries are refused and a gap is reported`()
    throws
  {
    var driver = try Driver()
    driver.session.pause(true)
    try driver.send(1, #"{"kind":"v","id":"a","n":1}"#)
    try driver.send(2, #"{"kind":"v","id":"b","n":1}"#)
    #expect(driver.answers == [1: 503, 2: 503])
    #expect(driver.submitted == 0)
    driver.session.pause(false)
    try driver.send(3, #"{"kind":"v","id":"a","n":1}"#)
    #expect(driver.submitted == 1)
    #expect(driver.gaps == ["2 deliveries were refused: livehostd accepted no events"])
  }

  @Test func `an invalid delivery is refused, and one without a rule is accepted and counted`()
    throws
  {
    var driver = try Driver()
    try driver.send(1, #"{"kind":"v","id":"a"}"#)
    try driver.send(2, #"{"kind":"other","id":"b"}"#)
    #expect(driver.answers == [1: 422, 2: 200])
    #expect(driver.session.refused == 1)
    #expect(driver.session.ignored == 1)
    #expect(driver.submitted == 0)
  }

  @Test func `deliveries without a rule are reported by kind and shape, without their values`()
    throws
  {
    let mapping = try #require(try WebhookMapping.preset("ko-fi"))
    var session = WebhookSession(mapping, address: "127.0.0.1:1")
    session.opened()
    _ = session.takeEffects()
    let data =
      #"{"verification_token":"s3cret","type":"Refund","from_name":"Ada","amount":"","n":{"a":[1]}}"#
    for (id, second) in [(1, 11), (2, 12), (3, 30)] as [(Int, Int64)] {
      session.receive(
        id, WebhookDelivery(body: ["data": .string(data)]), bytes: [UInt8(id)], queue: (0, 0),
        at: .origin + .seconds(second))
    }
    let statuses = session.takeEffects().compactMap { effect in
      if case .status(let status) = effect { status.reason } else { nil }
    }
    #expect(
      statuses.last
        == "listening on 127.0.0.1:1; no rule for 3: 3 Refund; the last one has {data: {amount: text, "
        + "from_name: text, n: {a: list}, type: text, verification_token: text}}")
    #expect(!statuses.contains { $0.contains("Ada") || $0.contains("s3cret") })
  }

  @Test func `the status reports event members with unusable values by name`() throws {
    let mapping = try WebhookMapping(
      "events: [{type: announcement, members: {user.name: name, text: text}}]", file: "m.yaml")
    var session = WebhookSession(mapping, address: "127.0.0.1:1")
    session.opened()
    _ = session.takeEffects()
    session.receive(
      1, WebhookDelivery(body: ["name": [1], "text": "t"]), bytes: [1], queue: (0, 0),
      at: .origin + .seconds(11))
    #expect(
      session.takeEffects().contains { effect in
        if case .status(let status) = effect {
          status.reason == "listening on 127.0.0.1:1; unusable values ignored: 1 user.name"
        } else {
          false
        }
      })
  }

  @Test func `senders cannot cause more than one report of the status in ten seconds`() throws {
    var driver = try Driver()
    let before = driver.statuses.count
    for _ in 0..<1000 { driver.session.refuse("the secret is missing or wrong", at: driver.now) }
    driver.settle()
    #expect(driver.statuses.count == before + 1)
    driver.wait(10)
    #expect(driver.statuses.count == before + 2)
    #expect(
      driver.statuses.last?.reason
        == "listening on 127.0.0.1:1; refused 1000, most recently: the secret is missing or wrong")
    #expect(driver.session.deadline == nil)
  }
}
