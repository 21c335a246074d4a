import LiveEvents
import LiveSources
import RateLimiting
import TestSupport
import Testing
import TwitchChat

/// Tests single steps of a session, line by line.
struct TwitchSessionTests {
  /// A session of Twitch's chat, with a virtual clock.
  private final class Steps {
    var session: TwitchSession
    var now = Instant.origin
    /// The effects of the session, without its statuses.
    var effects: [TwitchSession.Effect] = []
    var statuses: [String: SourceStatus] = [:]

    init(
      _ channels: [String], account: TwitchSettings.Account? = nil, readsHistory: Bool = false
    ) {
      var settings = TwitchSettings(channels: channels, account: account)
      settings.readsHistory = readsHistory
      session = TwitchSession(settings, generator: SplitMix64(seed: 1), at: .origin)
      wake()
    }

    private func settle() {
      for effect in session.takeEffects() {
        if case .status(let channel, let status) = effect {
          statuses[channel] = status
        } else {
          effects.append(effect)
        }
      }
    }

    func wake(after delay: Interval = .zero) {
      now = now + delay
      session.wake(at: now)
      settle()
    }

    func open(_ id: Int) {
      session.opened(id, at: now)
      settle()
    }

    func close(_ id: Int) {
      session.closed(id, reason: "closed", at: now)
      settle()
    }

    func pause(_ isPaused: Bool) {
      session.pause(isPaused, at: now)
      settle()
    }

    @discardableResult
    func receive(_ line: String, on id: Int = 1) -> TwitchSession.Verdict {
      let verdict = Array(line.utf8).withUnsafeBytes { session.receive($0, on: id, at: now) }
      settle()
      return verdict
    }

    /// Returns the lines sent on a connection since the last call.
    func sent(on id: Int = 1) -> [String] {
      defer { effects.removeAll { if case .send(id, _) = $0 { true } else { false } } }
      return effects.compactMap { if case .send(id, let line) = $0 { line } else { nil } }
    }

    /// Makes a connection on which the channels are joined.
    func join(_ channels: [String], on id: Int = 1) {
      open(id)
      receive(":tmi.twitch.tv CAP * ACK :twitch.tv/commands twitch.tv/tags", on: id)
      receive(":tmi.twitch.tv 001 me :Welcome, GLHF!", on: id)
      for channel in channels { receive(":me!me@me.tmi.twitch.tv JOIN #\(channel)", on: id) }
    }

    func has(_ effect: TwitchSession.Effect) -> Bool { effects.contains(effect) }
  }

  private static func message(_ id: String) -> String {
    "@badges=;id=\(id);room-id=1 :bo!bo@bo PRIVMSG #ada :hello"
  }

  @Test func `capabilities are requested together, then singly, before channels are joined`() {
    let steps = Steps(["ada"])
    steps.open(1)
    #expect(steps.sent().first == "CAP REQ :twitch.tv/commands twitch.tv/tags")
    steps.receive(":tmi.twitch.tv 001 me :Welcome, GLHF!")
    steps.receive(":tmi.twitch.tv CAP * NAK :twitch.tv/commands twitch.tv/tags")
    #expect(steps.sent() == ["CAP REQ :twitch.tv/commands"])
    steps.receive(":tmi.twitch.tv CAP * ACK :twitch.tv/commands")
    #expect(steps.sent() == ["CAP REQ :twitch.tv/tags"])
    steps.receive(":tmi.twitch.tv CAP * ACK :twitch.tv/tags")
    #expect(steps.sent() == ["CAP END", "JOIN #ada"])
    steps.receive(":me!me@me JOIN #ada")
    #expect(steps.statuses["ada"] == SourceStatus(.live))
  }

  @Test
  func
    `the channels of a server that does not answer about capabilities are joined after ten seconds`()
  {
    let steps = Steps(["ada"])
    steps.open(1)
    _ = steps.sent()
    steps.receive(":irc.example 001 me :Welcome")
    #expect(steps.sent().isEmpty)
    steps.wake(after: .seconds(10))
    #expect(steps.sent() == ["JOIN #ada"])
  }

  @Test func `channels are joined immediately if the server has no capabilities`() {
    let steps = Steps(["ada"])
    steps.open(1)
    _ = steps.sent()
    steps.receive(":irc.example 421 * CAP :Unknown command")
    steps.receive(":irc.example 001 me :Welcome")
    #expect(steps.sent() == ["CAP END", "JOIN #ada"])
    steps.receive(":me!me@me JOIN :#ada")
    #expect(steps.statuses["ada"]?.reason?.contains("no tags") == true)
  }

  @Test func `a ping of the server is answered, and a silent server is sent a ping`() {
    let steps = Steps(["ada"])
    steps.join(["ada"])
    _ = steps.sent()
    steps.receive("@time=2026-11-23T10:00:00Z PING :tmi.twitch.tv")
    #expect(steps.sent() == ["PONG :tmi.twitch.tv"])
    steps.wake(after: .seconds(30))
    #expect(steps.sent() == ["PING :livehost"])
    steps.receive(":tmi.twitch.tv PONG tmi.twitch.tv :livehost")
    steps.wake(after: .seconds(29))
    #expect(!steps.has(.close(1)))
    steps.wake(after: .seconds(1))
    steps.wake(after: .seconds(10))
    #expect(steps.has(.close(1)))
    #expect(steps.has(.connect(2)) == false)
    steps.wake()
    #expect(steps.has(.connect(2)))
  }

  @Test func `a gap lasts from the last received line, minus the round trip, until the next join`()
  {
    let steps = Steps(["ada"])
    steps.open(1)
    steps.receive(":tmi.twitch.tv CAP * ACK :twitch.tv/commands twitch.tv/tags")
    steps.receive(":tmi.twitch.tv 001 me :Welcome, GLHF!")
    steps.now = steps.now + .milliseconds(80)
    steps.receive(":me!me@me JOIN #ada")
    steps.now = steps.now + .seconds(10)
    let last = steps.now
    steps.receive(Self.message("a"))
    steps.now = steps.now + .seconds(5)
    steps.close(1)
    steps.wake()
    #expect(steps.statuses["ada"] == SourceStatus(.connecting, reason: "closed"))
    steps.now = steps.now + .seconds(1)
    steps.join(["ada"], on: 2)
    #expect(
      steps.has(
        .gap(
          channel: "ada", from: last + .milliseconds(-80), to: steps.now, reason: "closed")))
  }

  @Test func `messages missed in a gap are requested, and only those not yet seen are forwarded`() {
    let steps = Steps(["ada"], readsHistory: true)
    steps.join(["ada"])
    let last = steps.now
    steps.receive(Self.message("a"))
    steps.close(1)
    steps.wake()
    steps.now = steps.now + .seconds(10)
    steps.join(["ada"], on: 2)
    #expect(steps.has(.history(channel: "ada", from: last, to: steps.now)))
    steps.receive(Self.message("c"), on: 2)
    func history(_ id: String, sent: Int, of channel: String = "ada") -> Bool {
      let line =
        "@historical=1;id=\(id);tmi-sent-ts=\(sent) :bo!bo@bo PRIVMSG #\(channel) :\(id)"
      return Array(line.utf8).withUnsafeBytes {
        steps.session.receive(history: $0, of: "ada", since: 1_000)
      }
    }
    #expect(history("b", sent: 1_001))
    // The other messages were received before or after the gap, were returned twice, are too old,
    // or belong to another channel.
    #expect(!history("a", sent: 1_001) && !history("c", sent: 1_001) && !history("b", sent: 1_001))
    #expect(!history("old", sent: 1_000) && !history("other", sent: 1_001, of: "bo"))
    steps.session.receivedHistory(of: "ada")
    steps.wake()
    #expect(steps.statuses["ada"]?.backfilled == 1)
    #expect(steps.statuses["ada"]?.state == .live)
    #expect(steps.receive(Self.message("b"), on: 2) == .ignore)
  }

  @Test func `a replaced connection is read until its server has sent everything`() {
    let steps = Steps(["ada"])
    steps.join(["ada"])
    steps.receive(":tmi.twitch.tv RECONNECT")
    #expect(!steps.has(.connect(2)))
    steps.wake(after: .seconds(2))
    #expect(steps.has(.connect(2)))
    steps.open(2)
    steps.receive(":tmi.twitch.tv CAP * ACK :twitch.tv/commands twitch.tv/tags", on: 2)
    steps.receive(":tmi.twitch.tv 001 me :Welcome, GLHF!", on: 2)
    _ = steps.sent(on: 1)
    steps.receive(":me!me@me JOIN #ada", on: 2)
    #expect(steps.sent(on: 1) == ["PING :livehost-drain"])
    // This message was in flight when the new connection joined, so only the old connection gets
    // it.
    #expect(steps.receive(Self.message("a"), on: 1) == .forward)
    // The old and the new connection get this message.
    #expect(steps.receive(Self.message("b"), on: 2) == .forward)
    #expect(steps.receive(Self.message("b"), on: 1) == .ignore)
    #expect(!steps.has(.close(1)))
    steps.receive(":tmi.twitch.tv PONG tmi.twitch.tv :livehost-drain", on: 1)
    #expect(steps.has(.close(1)))
    #expect(!steps.effects.contains { if case .gap = $0 { true } else { false } })
    #expect(steps.session.duplicates == 1)
  }

  @Test func `a channel that cannot be joined is tried on another connection, alone`() {
    let steps = Steps(["ada", "bo"])
    steps.join(["ada"])
    _ = steps.sent()
    steps.wake(after: .seconds(20))
    #expect(!steps.has(.close(1)))
    steps.wake()
    #expect(steps.has(.connect(2)))
    steps.join(["bo"], on: 2)
    #expect(steps.sent(on: 2).contains("JOIN #bo"))
    #expect(steps.statuses.mapValues(\.state) == ["ada": .live, "bo": .live])
    // If the answer arrives now, the channel would be joined on two connections.
    steps.receive(":me!me@me JOIN #bo")
    #expect(steps.sent().last == "PART #bo")
  }

  @Test(arguments: [
    "Login authentication failed", "Improperly formatted auth", "Login unsuccessful",
  ])
  func `a login that Twitch refuses ends the session`(text: String) {
    let steps = Steps(["ada"], account: .init(name: "ada", token: Secret("hunter2")))
    steps.open(1)
    #expect(steps.has(.authenticate(1)))
    steps.receive(":tmi.twitch.tv NOTICE * :\(text)")
    #expect(steps.has(.close(1)))
    #expect(steps.has(.refused(text)))
    #expect(steps.session.deadline == nil)
    steps.wake(after: .seconds(1000))
    #expect(!steps.has(.connect(2)))
    #expect(steps.statuses["ada"] == SourceStatus(.refused, reason: text))
    #expect(!"\(steps.effects) \(steps.session)".contains("hunter2"))
  }

  @Test
  func `a suspended channel is reported as refused, and the session keeps the other channels`() {
    let steps = Steps(["ada", "bo"])
    steps.join(["ada"])
    steps.receive("@msg-id=msg_channel_suspended :tmi.twitch.tv NOTICE #bo :It is suspended.")
    #expect(steps.statuses["bo"] == SourceStatus(.refused, reason: "It is suspended."))
    #expect(steps.statuses["ada"]?.state == .live)
    steps.wake(after: .seconds(25))
    #expect(!steps.has(.connect(2)))
  }

  @Test func `a message without tags is forwarded with its name and text`() {
    let steps = Steps(["ada"])
    steps.join(["ada"])
    #expect(
      steps.receive(":bo!bo@example PRIVMSG #ada :hello there: you")
        == .forwardUntagged(UntaggedMessage(channel: "ada", nick: "bo", text: "hello there: you")))
    #expect(
      steps.receive(":bo!bo@example PRIVMSG #ada :\u{1}ACTION waves\u{1}")
        == .forwardUntagged(UntaggedMessage(channel: "ada", nick: "bo", text: "waves")))
  }

  @Test(arguments: [
    "", " ", ":", "@", "@a", "@a=b", "@id=x :y", ":x PRIVMSG", ":x PRIVMSG #",
    ":x PRIVMSG #other :a",
    "PRIVMSG #other", "{\"type\":\"sync\"}", "@id= :bo PRIVMSG", ":x JOIN", ":me JOIN", "CAP",
    "CAP * ACK",
    ":x 001", ":x NOTICE", ":x KICK #ada", "\u{0}\u{FF}",
  ])
  func `IRC lines that contain no message are not forwarded`(line: String) {
    let steps = Steps(["ada"])
    steps.join(["ada"])
    #expect(steps.receive(line) == .ignore)
    #expect(steps.statuses["ada"]?.state == .live)
  }

  @Test(.timeLimit(.minutes(1)))
  func `names in IRC lines that are too long to compare are ignored`() {
    let steps = Steps(["ada"])
    let text = NastyText.marks
    steps.open(1)
    for line in [
      ":x CAP * \(text)", ":x 421 * \(text)", ":x NOTICE * :\(text)",
    ] {
      steps.receive(line)
    }
    steps.join(["ada"])
    for line in [
      ":x 403 me #\(text) :No such channel", "@msg-id=\(text) :x NOTICE #ada :text",
      "@msg-id=tos_ban :x NOTICE #\(text) :text", ":me!me@me JOIN #\(text)",
      ":\(text)!me@me JOIN #ada", ":\(text)!me@me PART #ada", ":x KICK #ada \(text)",
      ":x PRIVMSG #\(text) :hello", ":\(text) PRIVMSG #ada :hello",
    ] {
      #expect(steps.receive(line) == .ignore)
    }
    #expect(steps.statuses["ada"]?.state == .live)
    for text in ["\u{1}ACTION\(text)", "\(text)\u{1}"] {
      let verdict = steps.receive(":bo!bo@bo PRIVMSG #ada :\(text)")
      guard case .forwardUntagged(let message) = verdict else {
        Issue.record("the message was not forwarded")
        continue
      }
      #expect(message.text.utf8.elementsEqual(text.utf8))
    }
    // The session does not accept a name that is too long as its own name.
    let named = Steps(["ada"])
    named.open(1)
    let nick = named.sent().first { $0.hasPrefix("NICK ") }?.dropFirst(5) ?? ""
    named.receive(":x 001 \(text) :Welcome")
    named.receive(":x CAP * ACK :twitch.tv/commands twitch.tv/tags")
    named.receive(":\(nick)!x@x JOIN #ada")
    #expect(named.statuses["ada"]?.state == .live)
  }

  @Test func `a source that the daemon slows down does not consider its server lost`() {
    let steps = Steps(["ada"])
    steps.join(["ada"])
    steps.pause(true)
    steps.wake(after: .seconds(300))
    #expect(!steps.has(.close(1)))
    steps.pause(false)
    _ = steps.sent()
    steps.wake(after: .seconds(30))
    #expect(steps.sent() == ["PING :livehost"])
  }

  // MARK: Hostile input

  @Test(.timeLimit(.minutes(2)))
  func `100,000 hostile lines violate no invariant of the chat session`() {
    let pieces = [
      "@", "id=", "m1", ";", "tmi-sent-ts=", "1", "99999999999999999999", "room-id=", "source-id=",
      " ", ":", "!", "\\s",
      "ada!ada@ada", "tmi.twitch.tv", "PRIVMSG", "USERNOTICE", "CLEARCHAT", "NOTICE", "RECONNECT",
      "JOIN", "PART",
      "CAP", "*", "ACK", "NAK", "LS", "twitch.tv/tags", "twitch.tv/commands", "001", "366", "376",
      "#ada", "#bo", "PING",
      "PONG", "justinfan1", "Login authentication failed", "\u{0}", "é", "\u{202E}", "=", ",",
    ]
    func lines(_ nick: String) -> [String] {
      [
        ":tmi.twitch.tv CAP * ACK :twitch.tv/tags twitch.tv/commands",
        ":tmi.twitch.tv 001 \(nick) :hi", ":\(nick)!x@x JOIN #ada", "PING :tmi.twitch.tv",
        ":tmi.twitch.tv RECONNECT", ":tmi.twitch.tv CAP * NAK :twitch.tv/tags",
      ]
    }
    var generator = SplitMix64(seed: 19)
    var now = Instant.origin
    var session = TwitchSession(
      TwitchSettings(channels: ["ada", "bo"]), generator: SplitMix64(seed: 1), at: now)
    var (connections, nicks, forwarded) = ([Int](), [Int: String](), 0)
    func receive(_ line: String, on id: Int) {
      let verdict = Array(line.utf8).withUnsafeBytes { session.receive($0, on: id, at: now) }
      if verdict != .ignore { forwarded += 1 }
    }
    for step in 0..<100_000 {
      let id = connections.randomElement(using: &generator) ?? 0
      switch Int.random(in: 0..<100, using: &generator) {
      case 0: session.closed(id, reason: "gone", at: now)
      case 1...15:
        now = now + .milliseconds(.random(in: 0...5000, using: &generator))
        session.wake(at: now)
      case 16...40: receive("@id=m\(step) :bo!bo@bo PRIVMSG #ada :hi", on: id)
      case 41...50: receive(lines(nicks[id] ?? "").randomElement(using: &generator) ?? "", on: id)
      default:
        let line = (0..<Int.random(in: 0...16, using: &generator))
          .map { _ in pieces.randomElement(using: &generator) ?? "" }.joined()
        receive(line, on: id)
      }
      var effects = session.takeEffects()
      #expect(effects.count < 1000)
      while !effects.isEmpty {
        for effect in effects {
          switch effect {
          case .connect(let id):
            connections = connections.suffix(3) + [id]
            session.opened(id, at: now)
          case .send(let id, let line):
            // No text from a server can become a separate command.
            #expect(!line.contains("\n") && !line.contains("\r"))
            guard line.hasPrefix("NICK ") else { continue }
            nicks[id] = String(line.dropFirst(5))
            for line in lines(nicks[id] ?? "").prefix(3) { receive(line, on: id) }
          case .refused:
            session = TwitchSession(
              TwitchSettings(channels: ["ada", "bo"]), generator: SplitMix64(seed: 1), at: now)
            (connections, nicks) = ([], [:])
          default: break
          }
        }
        effects = session.takeEffects()
      }
    }
    #expect(forwarded > 1_000)
  }
}
