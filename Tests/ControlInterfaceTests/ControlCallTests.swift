import ControlInterface
import ControlTestSupport
import JSON
import LiveEvents
import Synchronization
import Testing
import Varlink
import VarlinkDescription

@Suite(.serialized) struct ControlCallTests {
  @Test func `all methods of the control interface work through the typed client`() async throws {
    let service = FakeService()
    try await withControlServer(service) { path, _ in
      let client = try await ControlClient.connect(path: path)
      #expect(try await client.getStatus().lanes == 2)
      #expect(try await client.listRooms().rooms.map(\.room) == ["main"])
      #expect(try await client.getRoom("main") == .full)
      #expect(try await client.getRoomJSON("main") == JSONValue(encoding: RoomReport.full))
      let header = try await client.getRoom("main", feature: .header)
      #expect(header.features.chat == nil && header.features.control == nil)
      try await client.openRoom("other")
      try await client.closeRoom("other")
      let events: [JSONValue] = [["type": "viewers", "count": 12], ["type": "title"]]
      #expect(try await client.sendEvents(room: "r", events: events).received == 2)
      #expect(
        service.log.withLock { $0 } == [
          "open other", "close other", #"send r {"count":12,"type":"viewers"} {"type":"title"}"#,
        ])
    }
  }

  @Test func `a control can be set to a value or a position, or toggled`() async throws {
    let service = FakeService()
    try await withControlServer(service) { path, _ in
      let client = try await ControlClient.connect(path: path)
      #expect(
        try await client.setControl(room: "main", control: "zoom", value: 0.25)
          == SetControlReply(value: 0.25))
      for position in [true, false] {
        let set = try await client.setControl(room: "main", control: "camera", on: position)
        #expect(set == SetControlReply(on: position))
      }
      let toggled = try await client.setControl(room: "main", control: "camera")
      #expect(toggled == SetControlReply(on: true))
      #expect(
        service.log.withLock { $0 } == [
          "\(LiveEvent.Payload.control(.set(control: "zoom", value: 0.25)))",
          "\(LiveEvent.Payload.control(.tap(control: "camera", on: true)))",
          "\(LiveEvent.Payload.control(.tap(control: "camera", on: false)))",
          "\(LiveEvent.Payload.control(.tap(control: "camera", on: nil)))",
        ])
      let none = try await error {
        _ = try await client.setControl(room: "none", control: "zoom", value: 1)
      }
      #expect(none.flatMap(ControlError.init) == .noSuchRoom("none"))
    }
  }

  @Test func `a controller names a limited number of acts, with a platform and a source`()
    async throws
  {
    try await withControlServer(FakeService()) { path, _ in
      let client = try await ControlClient.connect(path: path)
      let long = String(repeating: "x", count: 257)
      let calls: [(culprit: String, platform: String?, source: String?, acts: [ActKind])] = [
        ("platform", "", nil, [.say]), ("source", nil, long, []),
        ("acts", nil, nil, Array(repeating: .say, count: 15)),
      ]
      for (culprit, platform, source, acts) in calls {
        let refused = try await error {
          for try await _ in try client.monitorRequests(
            room: "main", platform: platform, source: source, acts: acts)
          {}
        }
        #expect(refused.flatMap(ServiceError.init) == .invalidParameter(culprit))
      }
    }
  }

  private func act(
    _ kind: ActKind, message: Text? = nil, person: Person? = nil, seconds: Int? = nil,
    reason: Text? = nil, modes: ChatModes? = nil, on platform: Text? = nil, source: Text? = nil,
    by: Text? = nil
  ) throws -> LiveEvent.Payload {
    let act = try PlatformAct(
      kind, message: message, person: person, seconds: seconds, reason: reason, modes: modes)
    return .control(.act(RequestedAct(act, platform: platform, source: source, by: by)))
  }

  private typealias Act = @Sendable (ControlClient) async throws -> any Encodable

  @Test func `requests reach a controller one by one, and their outcomes are reported`()
    async throws
  {
    try await withControlServer(FakeService()) { path, _ in
      let client = try await ControlClient.connect(path: path)
      var replies: [MonitorRequestsReply] = []
      for try await reply in try client.monitorRequests(room: "main", controls: ["zoom"]) {
        replies.append(reply)
      }
      #expect(replies.first?.request?.value == 0.5)
      #expect(replies.last?.withdrawn == "main/1")
      let other = try await ControlClient.connect(path: path)
      try await other.reportOutcome(identifier: "main/1", outcome: .refused, reason: "locked")
      for (identifier, reason) in [
        ("main/2", "no"), ("main/1", String(repeating: "x", count: 257)),
      ] {
        await #expect(throws: VarlinkClientError.self) {
          try await other.reportOutcome(
            identifier: identifier, outcome: .refused, reason: reason)
        }
      }
    }
  }

  @Test func `each host action has a method whose reply matches the interface definition`()
    async throws
  {
    let service = FakeService()
    let description = try InterfaceDescription(parsing: ControlInterface.definition)
    let acts: [(act: Act, method: String, event: LiveEvent.Payload)] = [
      ({ try await $0.admit(room: "main") }, "Admit", .waitingRoom(.admit(.next))),
      (
        { try await $0.admit(room: "main", user: "u") }, "Admit", .waitingRoom(.admit(.person("u")))
      ),
      ({ try await $0.admit(room: "main", all: true) }, "Admit", .waitingRoom(.admit(.all))),
      (
        {
          try await $0.setChatFilter(
            room: "main", user: "u", words: "w", mentionsOnly: true, platform: "kick")
        },
        "SetChatFilter",
        .chat(.filter(MessageFilter(person: "u", words: "w", mentionsOnly: true, platform: "kick")))
      ),
      (
        { try await $0.setChatFilter(room: "main") }, "SetChatFilter",
        .chat(.filter(MessageFilter()))
      ),
      (
        { try await $0.setMentionedNames(room: "main", names: ["ann", "bob"]) },
        "SetMentionedNames",
        .chat(.highlight(names: ["ann", "bob"]))
      ),
      (
        { try await $0.scrollChat(room: "main", position: .back) }, "ScrollChat",
        .chat(.scroll(.back))
      ),
      (
        { try await $0.scrollChat(room: "main", position: .end) }, "ScrollChat",
        .chat(.scroll(.end))
      ),
      (
        { try await $0.showThread(room: "main", message: "m") }, "ShowThread",
        .chat(.openThread(messageID: "m"))
      ),
      (
        { try await $0.showThread(room: "main") }, "ShowThread",
        .chat(.openThread(messageID: nil))
      ),
      (
        { try await $0.showPerson(room: "main", user: "u", platform: "kick") }, "ShowPerson",
        .chat(.openPerson(PersonReference(id: "u", platform: "kick")))
      ),
      (
        { try await $0.showPerson(room: "main", number: 7) }, "ShowPerson",
        .chat(.openPerson(PersonReference(id: "u7", platform: "twitch")))
      ),
      ({ try await $0.showPerson(room: "main") }, "ShowPerson", .chat(.openPerson(nil))),
      (
        {
          try await $0.notePerson(room: "main", user: "u", text: "asks for songs")
          return NoParameters()
        }, "NotePerson",
        .chat(
          .notePerson(try #require(PersonNote(about: PersonReference(id: "u"), "asks for songs"))))
      ),
      (
        {
          try await $0.handleNotice(room: "main", notice: 3, handling: .pin)
          return NoParameters()
        }, "HandleNotice",
        .chat(.handleNotice(number: 3, .pin))
      ),
      (
        {
          try await $0.handleNotice(room: "main", notice: 3, handling: .dismiss)
          return NoParameters()
        }, "HandleNotice",
        .chat(.handleNotice(number: 3, .dismiss))
      ),
      (
        {
          try await $0.handleActivity(room: "main", activity: 4, handling: .unpin)
          return NoParameters()
        }, "HandleActivity",
        .activity(.handle(number: 4, .unpin))
      ),
      (
        { try await $0.setControl(room: "main", control: "zoom", value: 1) }, "SetControl",
        .control(.set(control: "zoom", value: 1))
      ),
      (
        { try await $0.act(room: "main", kind: .delete, number: 7, by: "bob") }, "Act",
        try act(.delete, message: "m7", on: "twitch", by: "bob")
      ),
      (
        { try await $0.act(room: "main", kind: .timeOut, number: 7, seconds: 60, reason: "no") },
        "Act",
        try act(
          .timeOut, person: Person(id: "u7", name: "Ann"), seconds: 60, reason: "no", on: "twitch")
      ),
      (
        {
          try await $0.act(
            room: "main", kind: .ban, user: UserReport(id: "u", name: "Eve"), platform: "kick",
            source: "s")
        }, "Act",
        try act(.ban, person: Person(id: "u", name: "Eve"), on: "kick", source: "s")
      ),
      (
        {
          try await $0.act(
            room: "main", kind: .setChatModes, modes: ChatModesReport(slowSeconds: 3))
        }, "Act", try act(.setChatModes, modes: ChatModes(slowSeconds: 3))
      ),
      (
        { try await $0.setControl(room: "main", control: "camera") }, "SetControl",
        .control(.tap(control: "camera", on: nil))
      ),
    ]
    try await withControlServer(service) { path, _ in
      let client = try await ControlClient.connect(path: path)
      for (act, method, _) in acts {
        let reply = try JSONValue(encoding: try await act(client))
        guard case .method(_, let output)? = description.member(method)?.kind else {
          Issue.record("\(method) not found")
          continue
        }
        #expect(description.mismatch(of: reply.objectValue ?? [:], against: output) == nil)
      }
      #expect(service.log.withLock { $0 } == acts.map { "\($0.event)" })
      let nobody = try await error { _ = try await client.admit(room: "main", user: "nobody") }
      #expect(nobody.flatMap(ControlError.init) == .nobodyWaits(room: "main", user: "nobody"))
      let notice = try await error {
        try await client.handleNotice(room: "main", notice: 9, handling: .pin)
      }
      #expect(notice.flatMap(ControlError.init) == .noSuchNotice(room: "main", notice: 9))
      let row = try await error {
        try await client.handleActivity(room: "main", activity: 99, handling: .pin)
      }
      #expect(row.flatMap(ControlError.init) == .noSuchActivity(room: "main", activity: 99))
    }
  }

  @Test(
    arguments: [
      ("Admit", "user", ["user": ""]), ("Admit", "all", ["user": "u", "all": true]),
      ("SetChatFilter", "words", ["words": ""]),
      ("SetChatFilter", "user", ["user": .string(String(repeating: "x", count: 257))]),
      ("SetMentionedNames", "names", ["names": [""]]),
      ("SetMentionedNames", "names", ["names": .array(Array(repeating: "x", count: 33))]),
      ("ShowThread", "message", ["message": ""]),
      ("Act", "message", ["kind": "delete"]),
      ("Act", "message", ["kind": "delete", "message": ""]),
      ("Act", "text", ["kind": "say", "text": "two\nlines"]),
      ("Act", "text", ["kind": "delete", "message": "m", "text": "a"]),
      ("Act", "seconds", ["kind": "timeOut", "number": 7]),
      ("Act", "user", ["kind": "ban", "user": ["id": "", "name": "Ann"]]),
      ("Act", "number", ["kind": "delete", "number": 7, "message": "m"]),
      ("Act", "number", ["kind": "delete", "number": 7, "platform": "kick"]),
      ("Act", "number", ["kind": "mark", "number": 7]),
      ("Act", "platform", ["kind": "mark", "platform": ""]),
      ("Act", "by", ["kind": "mark", "by": .string(String(repeating: "x", count: 257))]),
      ("ShowPerson", "user", ["user": ""]), ("ShowPerson", "platform", ["platform": "kick"]),
      ("ShowPerson", "number", ["number": 7, "user": "u"]), ("NotePerson", "user", ["text": "a"]),
      ("NotePerson", "text", ["user": "u", "text": "a\nb"]),
      ("NotePerson", "text", ["user": "u", "text": .string(String(repeating: "x", count: 501))]),
    ] as [(String, String, [JSONName: JSONValue])])
  func `invalid host actions are refused`(
    method: String, culprit: String, parameters: [JSONName: JSONValue]
  ) async throws {
    try await withControlServer(FakeService()) { path, _ in
      let client = try await ControlClient.connect(path: path)
      let refused = try await error {
        _ = try await client.client.callRaw(
          "io.livehost.Control.\(method)", parameters.merging(["room": "main"]) { $1 })
      }
      #expect(refused.flatMap(ServiceError.init) == .invalidParameter(culprit))
    }
  }

  @Test(
    arguments: [
      ("control", ["control": "", "value": 1]),
      ("control", ["control": .string(String(repeating: "x", count: 257)), "value": 1]),
      ("value", ["control": "zoom", "value": 1.5]), ("value", ["control": "zoom", "value": -0.1]),
      ("on", ["control": "zoom", "value": 1, "on": true]),
    ] as [(String, [JSONName: JSONValue])])
  func `invalid values for a control are refused`(
    culprit: String, parameters: [JSONName: JSONValue]
  ) async throws {
    try await withControlServer(FakeService()) { path, _ in
      let client = try await ControlClient.connect(path: path)
      let refused = try await error {
        _ = try await client.client.callRaw(
          "io.livehost.Control.SetControl", parameters.merging(["room": "main"]) { $1 })
      }
      #expect(refused.flatMap(ServiceError.init) == .invalidParameter(culprit))
    }
  }

  private func error(
    _ body: () async throws -> Void
  ) async throws -> VarlinkError? {
    do { try await body() } catch VarlinkClientError.remote(let error) { return error }
    return nil
  }

  @Test func `the client converts the errors of the daemon to its own types`() async throws {
    try await withControlServer(FakeService()) { path, _ in
      let client = try await ControlClient.connect(path: path)
      let exists = try await error { try await client.openRoom("main") }
      #expect(exists.flatMap(ControlError.init) == .roomExists("main"))
      let none = try await error { _ = try await client.getRoom("none") }
      #expect(none.flatMap(ControlError.init) == .noSuchRoom("none"))
      let bad = try await error { _ = try await client.sendEvents(events: [["type": "x"], [:]]) }
      #expect(
        bad.flatMap(ControlError.init)
          == .invalidEvent(index: 1, reason: "missingMember", fault: nil))
      let notObject = try await error { _ = try await client.sendEvents(events: [1]) }
      #expect(notObject.flatMap(ServiceError.init) == .invalidParameter("events"))
      let rate = try await error {
        for try await _ in try client.monitorRoom("main", maximumRate: 0) {}
      }
      #expect(rate.flatMap(ServiceError.init) == .invalidParameter("maximumRate"))
    }
  }

  @Test func `a client that may not make changes can still read`() async throws {
    let service = FakeService()
    try await withControlServer(service, mayChange: false) { path, _ in
      let client = try await ControlClient.connect(path: path)
      for method in ControlInterface.privilegedMethods.sorted() {
        await #expect(
          throws: VarlinkClientError.remote(ServiceError.permissionDenied.varlinkError)
        ) { try await client.client.callRaw("io.livehost.Control.\(method)") }
      }
      #expect(try await client.getRoom("main").room == "main")
      #expect(service.log.withLock { $0 } == [])
    }
  }
}
