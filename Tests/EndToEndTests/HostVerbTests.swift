import ControlInterface
import Foundation
import JSON
import Testing
import Varlink

@Suite(.serialized)
struct HostVerbTests {
  private func features(_ daemon: RunningDaemon, _ feature: String) throws -> [String: Any] {
    let outcome = try daemon.ctl("show", "main", feature, "--json=short")
    let features = try #require(try outcome.json()["features"] as? [String: Any])
    return try #require(features[feature] as? [String: Any])
  }

  private func done(_ outcome: Outcome) -> String {
    #expect(outcome.status == 0, "\(outcome.diagnostics)")
    return outcome.output
  }

  @Test func `verbs set the waiting room's countdown and capacity, and admit viewers`() throws {
    let daemon = try RunningDaemon()
    let lines = ["u1", "u2", "u3"].map {
      #"{"type":"waiting.join","user":{"id":"\#($0)","name":"N\#($0)"}}"#
    }
    _ = done(try daemon.ctl("ingest", "-", input: lines.joined(separator: "\n") + "\n"))
    #expect(done(try daemon.ctl("schedule", "main", "1h")).contains("begins in"))
    let waiting = try features(daemon, "waitingRoom")
    #expect((3_590...3_600).contains(waiting["secondsLeft"] as? Int ?? 0))
    #expect(
      (waiting["people"] as? [[String: Any]])?.compactMap { $0["id"] as? String } == [
        "u1", "u2", "u3",
      ])
    #expect(done(try daemon.ctl("capacity", "main", "2")).contains("0 of 2 admitted"))
    #expect(done(try daemon.ctl("admit", "main", "u2")).contains("let in Nu2 (u2)"))
    #expect(done(try daemon.ctl("admit", "main", "--all")).contains("let in Nu1 (u1)"))
    let full = try daemon.ctl("admit", "main")
    #expect(full.status == 1)
    #expect(full.diagnostics.contains("its capacity is 2"))
    #expect(done(try daemon.ctl("pace", "main", "2.5")).contains("2.5/s"))
    #expect(try features(daemon, "waitingRoom")["perSecond"] as? Double == 2.5)
    #expect(done(try daemon.ctl("pace", "main", "0.1")).contains("one in 10.0 s"))
    #expect(try daemon.ctl("pace", "main", "0").status == 64)
    #expect(!done(try daemon.ctl("pace", "main", "none")).contains("one in"))
    #expect(done(try daemon.ctl("capacity", "main", "none")).contains("1 waiting, 2 admitted"))
    #expect(done(try daemon.ctl("schedule", "main", "none")).contains("1 waiting, 2 admitted\n"))
    _ = done(try daemon.ctl("send", "main", #"{"type":"stream","state":"live"}"#))
    #expect(try daemon.ctl("schedule", "main", "1h").diagnostics.contains("its stream is live"))
    #expect(try daemon.ctl("admit", "none").status == 1)
    #expect(daemon.stop() == 0)
  }

  @Test func `the host's chat settings appear in show and in monitors`() async throws {
    let daemon = try RunningDaemon()
    func say(_ id: Int, _ text: String, _ more: String = "") throws {
      _ = done(
        try daemon.ctl(
          "send", "main",
          #"{"type":"chat.message","id":"m\#(id)","user":{"id":"u","name":"Ann"},"text":"\#(text)"\#(more)}"#
        ))
    }
    try say(1, "hello")
    try say(2, "hi @bob", #","replyTo":"m1""#)
    _ = done(
      try daemon.ctl(
        "send", "main",
        #"{"type":"chat.notice","kind":"raid","user":{"id":"u","name":"Ann"},"count":7}"#))
    let client = try await ControlClient.connect(path: daemon.controlSocket)
    var states = try client.monitorRoom("main", features: [.chat]).makeAsyncIterator()
    _ = try await states.next()
    #expect(
      done(try daemon.ctl("chat", "filter", "main", "--words", "HELLO")) == "1 message passes\n")
    var report = try await states.next()?.report()
    while report != nil, report?.features.chat?.filter == nil {
      report = try await states.next()?.report()
    }
    #expect(report?.features.chat?.filtered?.map(\.id) == ["m1"])
    await client.client.close()

    #expect(done(try daemon.ctl("chat", "highlight", "main", "bob")) == "1 mention\n")
    #expect(done(try daemon.ctl("chat", "thread", "main", "m2")) == "Ann: hello\n* Ann: hi @bob\n")
    #expect(
      done(try daemon.ctl("chat", "notices", "main")) == "notice 1: Ann raids with 7 viewers\n")
    _ = done(try daemon.ctl("chat", "pin", "main", "1"))
    _ = done(try daemon.ctl("chat", "scroll", "main", "back"))
    try say(3, "hello again")
    let shown = done(try daemon.ctl("show", "main", "chat"))
    for text in [
      "notice 1: Ann raids with 7 viewers (pinned)", #"only with "HELLO""#, "marked: @bob",
      "1 new since scrolled back", "thread:",
    ] {
      #expect(shown.contains(text), "\(text)")
    }
    _ = done(try daemon.ctl("chat", "scroll", "main", "end"))
    _ = done(try daemon.ctl("chat", "thread", "main"))
    _ = done(try daemon.ctl("chat", "filter", "main"))
    _ = done(try daemon.ctl("chat", "dismiss", "main", "1"))
    let chat = try features(daemon, "chat")
    for absent in ["filter", "filtered", "thread", "unread"] { #expect(chat[absent] == nil) }
    #expect((chat["noticeQueue"] as? [Any])?.isEmpty == true)
    #expect(try daemon.ctl("chat", "pin", "main", "1").status == 1)
    #expect(daemon.stop() == 0)
  }
}
