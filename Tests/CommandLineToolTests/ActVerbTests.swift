import CommandLineTool
import ControlInterface
import ControlTestSupport
import Glibc
import JSON
import LiveEvents
import Synchronization
import Testing

@Suite struct ActVerbTests {
  private static let ann = UserReport(id: "u1", name: "Ann")

  /// A room with messages from Ann on two platforms and from Bob on one, and a raid by Cleo.
  private static let report: RoomReport = {
    var room = FakeService.room
    room.features.chat?.messages = [
      ChatMessageReport(id: "m1", user: ann, text: "hi", platform: "twitch"),
      ChatMessageReport(
        id: "m2", user: UserReport(id: "u2", name: "bob"), text: "hi", platform: "owncast"),
      ChatMessageReport(
        id: "m3", user: UserReport(id: "$(x)", name: "e'\u{1B}ve"), text: "hi", platform: "kick"),
      ChatMessageReport(
        id: "m4", user: UserReport(id: "k1", name: "Ann"), text: "hi", platform: "kick"),
    ]
    room.features.chat?.noticeQueue = [
      NoticeReport(
        number: 1, kind: "raid", user: UserReport(id: "u3", name: "Cleo"), count: 3, timestamp: 1)
    ]
    return room
  }()

  private func act(
    _ kind: ActKind, text: Text? = nil, message: Text? = nil, person: Person? = nil,
    seconds: Int? = nil, reason: Text? = nil, modes: ChatModes? = nil, on: Bool? = nil
  ) throws -> PlatformAct {
    try PlatformAct(
      kind, text: text, message: message, person: person, seconds: seconds, reason: reason,
      modes: modes, on: on)
  }

  @Test func `each act verb requests the act that its arguments describe`() async throws {
    let daemon = try await FakeDaemon(report: Self.report)
    let bob = Person(id: "u2", name: "bob")
    let cases: [([String], PlatformAct)] = [
      (["chat", "say", "main", "hi all"], try act(.say, text: "hi all")),
      (["chat", "reply", "main", "m1", "yes"], try act(.reply, text: "yes", message: "m1")),
      (["chat", "announce", "main", "soon"], try act(.announce, text: "soon")),
      (["chat", "delete", "main", "m1"], try act(.delete, message: "m1")),
      (
        ["chat", "timeout", "main", "@bob", "1h30m"],
        try act(.timeOut, person: bob, seconds: 5_400)
      ),
      (
        ["chat", "timeout", "main", "u2", "14d", "--reason", "links"],
        try act(.timeOut, person: bob, seconds: 1_209_600, reason: "links")
      ),
      (["chat", "ban", "main", "@BOB"], try act(.ban, person: bob)),
      (["chat", "ban", "main", "u2", "--reason=spam"], try act(.ban, person: bob, reason: "spam")),
      (
        ["chat", "unban", "main", "u99"], try act(.unban, person: Person(id: "u99", name: "u99"))
      ),
      (
        ["chat", "shoutout", "main", "@cleo"],
        try act(.shoutOut, person: Person(id: "u3", name: "Cleo"))
      ),
      (["chat", "shield", "main", "off"], try act(.setShield, on: false)),
      (["chat", "held", "main", "m9", "allow"], try act(.reviewHeld, message: "m9", on: true)),
      (["chat", "held", "main", "m9", "deny"], try act(.reviewHeld, message: "m9", on: false)),
      (
        ["chat", "modes", "main", "--slow", "off", "--followers-only=10m", "--unique-only", "on"],
        try act(
          .setChatModes,
          modes: ChatModes(slowSeconds: 0, followersOnlyMinutes: 10, uniqueOnly: true))
      ),
      (
        [
          "chat", "modes", "main", "--slow", "2m", "--followers-only", "on", "--emote-only", "off",
          "--subscribers-only", "on",
        ],
        try act(
          .setChatModes,
          modes: ChatModes(
            slowSeconds: 120, emoteOnly: false, followersOnlyMinutes: 0, subscribersOnly: true))
      ),
      (["title", "main", "A title"], try act(.setTitle, text: "A title")),
      (["category", "main", "Music"], try act(.setCategory, text: "Music")),
      (["mark", "main"], try act(.mark)), (["mark", "main", "goal"], try act(.mark, text: "goal")),
    ]
    for (arguments, expected) in cases {
      daemon.service.acts.withLock { $0 = [] }
      _ = await daemon.run(arguments)
      let seen = daemon.service.acts.withLock { $0 }
      #expect(seen.map(\.act) == [expected], "\(arguments)")
      #expect(seen.first?.source == nil && seen.first?.by == userName, "\(arguments)")
    }
    await daemon.stop()
  }

  private var userName: Text? {
    getpwuid(getuid()).map { Text(String(cString: $0.pointee.pw_name)) }
  }

  @Test func `an act goes to the chosen platform and source, or to the person's platform`()
    async throws
  {
    let daemon = try await FakeDaemon(report: Self.report)
    for (arguments, platform, source): ([String], Text?, Text?) in [
      (["chat", "say", "main", "hi"], nil, nil),
      (["chat", "say", "main", "hi", "--platform", "kick", "--source=second"], "kick", "second"),
      (["chat", "unban", "main", "@bob"], "owncast", nil),
      (["chat", "unban", "main", "u1"], "twitch", nil),
      (["chat", "unban", "main", "@ann", "--platform", "kick"], "kick", nil),
      (["chat", "unban", "main", "@cleo"], nil, nil),
      (["chat", "unban", "main", "@cleo", "--platform", "kick"], "kick", nil),
      (["chat", "unban", "main", "u2", "--platform", "kick"], "kick", nil),
    ] {
      daemon.service.acts.withLock { $0 = [] }
      _ = await daemon.run(arguments)
      let seen = daemon.service.acts.withLock { $0 }
      #expect(seen.count == 1, "\(arguments)")
      #expect(seen.first?.platform == platform && seen.first?.source == source, "\(arguments)")
    }
    await daemon.stop()
  }

  @Test(arguments: [
    (["chat", "delete", "main", "m1"], "confirmed: message m1 was deleted\n"),
    (["chat", "unban", "main", "u99"], "confirmed: u99 was unbanned\n"),
    (["chat", "timeout", "main", "@bob", "90s"], "confirmed: bob (u2) was timed out for 1:30\n"),
    (
      ["chat", "say", "main", "hi", "--platform", "social-stream"],
      "sent; the platform does not confirm whether the message was posted\n"
    ),
    (
      ["chat", "ban", "main", "@ann", "--platform", "kick"],
      """
      confirmed: Ann (k1) was banned
      to lift the ban: livehostctl chat unban --platform kick -- main k1

      """
    ),
    (
      ["chat", "ban", "main", "$(x)", "--source", "a b"],
      """
      confirmed: e'\u{FFFD}ve ($(x)) was banned
      to lift the ban: livehostctl chat unban --platform kick --source 'a b' -- main '$(x)'

      """
    ),
    (["chat", "shield", "main", "off"], "confirmed: the shield was turned off\n"),
    (["chat", "held", "main", "m9", "deny"], "confirmed: message m9 was denied\n"),
  ])
  func `the output of a successful act says whether the platform confirmed it`(
    arguments: [String], output: String
  ) async throws {
    let daemon = try await FakeDaemon(report: Self.report)
    let run = await daemon.run(arguments)
    #expect(run.status == .done, "\(run.diagnostics)")
    #expect(run.output == output)
    await daemon.stop()
  }

  @Test func `a refused act fails with the code of a refused control, and prints the reason`()
    async throws
  {
    let daemon = try await FakeDaemon(report: Self.report)
    let arguments = ["chat", "ban", "main", "@bob"]
    let text = await daemon.run(arguments)
    let locked = await daemon.run(["set", "main", "locked", "1"])
    #expect(text.status == locked.status && text.status == .failed)
    #expect(text.diagnostics.contains("it is unknown whether bob (u2) was banned: no answer"))
    #expect(text.output.isEmpty)
    let json = try JSONValue(parsing: await daemon.run(arguments + ["--json=short"]).output)
    let error = json["error"]
    #expect(error?["exitCode"] == 1 && error?["outcome"] == "refused")
    #expect(error?["reason"] == "no answer" && error?["platform"] == "owncast")
    #expect(error?["act"]?["kind"] == "ban" && error?["act"]?["user"]?["id"] == "u2")
    await daemon.stop()
  }

  @Test func `a refusal is not reported as unknown, and an unknown outcome not as a refusal`() {
    let act = PlatformActReport(kind: .delete, message: "m\u{1B}1")
    #expect(ActText.refusal(act, "too old") == "message m\u{FFFD}1 was not deleted: too old")
    #expect(ActText.refusal(act, nil) == "message m\u{FFFD}1 was not deleted: refused")
    #expect(
      ActText.refusal(act, "the outcome is unknown: the source left")
        == "it is unknown whether message m\u{FFFD}1 was deleted: the outcome is unknown: the source "
        + "left")
  }

  @Test(arguments: [
    (
      ["chat", "shoutout", "main", "u3", "--platform", "twitch"],
      "no connected source can carry out 'shoutOut' on twitch in the room 'main'; "
        + "'livehostctl connect'"
    ),
    (["chat", "say", "main", "hi"], "twitch, owncast; choose one with --platform or --source"),
    (
      ["chat", "ban", "main", "@nobody"],
      "stores no message from '@nobody'; give the person's identifier, without @"
    ),
    (["chat", "ban", "main", "bob"], "'bob' is a person's name, not an identifier; write '@bob'"),
    (
      ["chat", "ban", "main", "@ann"],
      "k1 on kick, u1 on twitch; give the identifier and --platform"
    ),
    (["chat", "delete", "none", "m1"], "there is no room 'none'"),
    (["chat", "ban", "none", "u1"], "there is no room 'none'"),
  ])
  func `the error for an impossible act names the remedy`(arguments: [String], text: String)
    async throws
  {
    let daemon = try await FakeDaemon(report: Self.report)
    let run = await daemon.run(arguments)
    #expect(run.status == .failed)
    #expect(run.diagnostics.contains(text), "\(run.diagnostics)")
    #expect(run.output.isEmpty)
    await daemon.stop()
  }

  @Test(arguments: [
    ["chat", "say", "main"], ["chat", "say", "main", ""], ["chat", "say", "main", "hi", "all"],
    ["chat", "say", "main", " "], ["chat", "say", "main", "a\nb"], ["chat", "say", "main", "a\tb"],
    ["chat", "say", "main", String(repeating: "é", count: 501)],
    ["chat", "say", "main", "hi", "--platform", ""],
    ["chat", "reply", "main", "hi"], ["chat", "reply", "main", "", "hi"],
    ["chat", "delete", "main"], ["chat", "delete", "main", ""],
    ["chat", "ban", "main"], ["chat", "ban", "main", "@"], ["chat", "ban", "main", ""],
    ["chat", "ban", "main", "u1", "--reason", ""],
    ["chat", "timeout", "main", "u1"], ["chat", "timeout", "main", "u1", "10"],
    ["chat", "timeout", "main", "u1", "0s"], ["chat", "timeout", "main", "u1", "15d"],
    ["chat", "timeout", "main", "u1", "-10m"], ["chat", "timeout", "main", "u1", "10m ago"],
    ["chat", "timeout", "main", "u1", "500ms"], ["chat", "timeout", "main", "u1", "@5"],
    ["chat", "modes", "main"], ["chat", "modes", "main", "--slow", "on"],
    ["chat", "modes", "main", "--followers-only", "90s"],
    ["chat", "modes", "main", "--emote-only", "yes"],
    ["chat", "shield", "main"], ["chat", "shield", "main", "toggle"],
    ["chat", "held", "main", "m1"], ["chat", "held", "main", "m1", "maybe"],
    ["title", "main"], ["title", "main", ""], ["category", "main"], ["mark", "main", ""],
  ])
  func `invalid arguments of act verbs are usage errors, and nothing is requested`(
    arguments: [String]
  ) async throws {
    let daemon = try await FakeDaemon(report: Self.report)
    #expect(await daemon.run(arguments).status == .usage, "\(arguments)")
    #expect(daemon.service.acts.withLock { $0.isEmpty })
    await daemon.stop()
  }

  @Test(arguments: [
    ("hello\n", "hello"), ("hello\r\n\n", "hello"), (" 你好 ", " 你好 "),
    (String(repeating: "é", count: 500), String(repeating: "é", count: 500)),
  ])
  func `the text - means standard input without its final line breaks`(input: String, text: String)
    async throws
  {
    let daemon = try await FakeDaemon(report: Self.report)
    let run = await daemon.run(["title", "main", "-"], input: Array(input.utf8))
    #expect(run.status == .done, "\(run.diagnostics)")
    #expect(daemon.service.acts.withLock { $0.map(\.act.text) } == [Text(text)])
    _ = await daemon.run(["chat", "ban", "main", "u2", "--reason", "-"], input: Array(input.utf8))
    #expect(daemon.service.acts.withLock { $0.last?.act.reason } == Text(text))
    await daemon.stop()
  }

  @Test(arguments: [
    (Array("\n".utf8), ToolStatus.usage, "the text is empty"), ([], .usage, "the text is empty"),
    (Array("a\nb\n".utf8), .usage, "the text has several lines"),
    (Array("a\u{1B}b".utf8), .usage, "control character"),
    (Array(repeating: 0x61, count: 1 << 20), .usage, "shorten it to at most 500"),
    ([0x61, 0xFF], .badData, "standard input is not UTF-8"),
  ])
  func `an unusable text from standard input is an error that names the problem`(
    input: [UInt8], status: ToolStatus, message: String
  ) async throws {
    let daemon = try await FakeDaemon(report: Self.report)
    let run = await daemon.run(["chat", "reply", "main", "m1", "-"], input: input)
    #expect(run.status == status)
    #expect(run.diagnostics.contains(message), "\(run.diagnostics)")
    #expect(daemon.service.acts.withLock { $0.isEmpty })
    await daemon.stop()
  }

  @Test(arguments: [
    ["chat", "say", "main", "hi"], ["chat", "ban", "main", "u1"], ["mark", "main"],
  ])
  func `an act by a user without permission fails with the code for that`(arguments: [String])
    async throws
  {
    let daemon = try await FakeDaemon(report: Self.report, mayChange: false)
    #expect(await daemon.run(arguments).status == .notPermitted)
    await daemon.stop()
  }
}

@Suite struct KnownPeopleTests {
  private func people(_ authors: (id: String, name: String, platform: String?)...) -> KnownPeople {
    KnownPeople(
      ChatReport(
        messages: authors.map {
          ChatMessageReport(user: UserReport(id: $0.id, name: $0.name), platform: $0.platform)
        }))
  }

  private let room = RoomName("main")

  @Test func `a person whose platform only one of two sources reports is one person`() throws {
    let room = try #require(room)
    for authors in [
      people(("1", "ann", nil), ("1", "ann", "twitch")),
      people(("1", "ann", "twitch"), ("1", "ann", nil)),
    ] {
      for argument in [PersonArgument.name("Ann"), .identifier("1")] {
        let person = try authors.find(argument, on: nil, in: room)
        #expect(person.platform == "twitch" && person.user.id == "1")
      }
    }
  }

  @Test func `a name never selects a person with the same identifier but another name`() throws {
    let room = try #require(room)
    let authors = people(("1", "bob", "twitch"), ("1", "ann", nil), ("1", "cleo", "kick"))
    #expect(try authors.find(.name("ann"), on: nil, in: room).platform == nil)
    #expect(try authors.find(.name("cleo"), on: nil, in: room).platform == "kick")
    #expect(throws: Failure.self) { try authors.find(.identifier("1"), on: nil, in: room) }
    #expect(try authors.find(.identifier("1"), on: "twitch", in: room).user.name == "bob")
  }

  @Test func `people without an identifier cannot be selected by name`() throws {
    let room = try #require(room)
    #expect(throws: Failure.self) {
      try people(("", "ann", "twitch")).find(.name("ann"), on: nil, in: room)
    }
  }

  @Test func `an identifier that begins with @ selects its person`() throws {
    let room = try #require(room)
    let argument = try #require(PersonArgument(argument: "@handle"))
    let person = try people(("@handle", "Ann", "youtube")).find(argument, on: nil, in: room)
    #expect(person.user.name == "Ann")
  }
}

@Suite struct ShellWordTests {
  @Test(arguments: [
    ("u42", "u42"), ("", "''"), ("a b", "'a b'"), ("it's", #"'it'\''s'"#), ("-x", "'-x'"),
    ("$(x)", "'$(x)'"), ("名前", "名前"), ("a\u{1B}b", "'a\u{FFFD}b'"),
    ("\u{0D4E}`x\u{0D4E}`", "'\u{0D4E}`x\u{0D4E}`'"), ("~", "'~'"), ("{a,b}", "'{a,b}'"),
    ("=ls", "'=ls'"), ("हिन्दी", "हिन्दी"),
  ])
  func `a text becomes one word, and is quoted only if it must be`(text: String, word: String) {
    #expect(ShellWord.quoted(text) == word)
  }

  @Test func `names that a shell would evaluate are not offered for completion`() {
    let names = [
      "@ann", "u42", "$(touch x)", "`x`", "a;b", "Desktop Audio", "a\nb", "--all", "", "名前", "@ann",
      "*", "\u{0D4E}`x\u{0D4E}`", "a $x",
    ]
    #expect(CompletionCandidates.safe(names) == ["@ann", "u42", "Desktop Audio", "名前"])
  }
}
