import Foundation
import LivehostDaemon
import SocketTestSupport
import Testing
import Throttling
import YAMLReader

/// Checks every key of the configuration file. The keys come from the list with which the program
/// reads, prints and documents its configuration.
@Suite(.serialized)
struct ConfigurationKeyTests {
  /// A way to observe the effect of a key from outside the daemon.
  struct Proof: Sendable {
    /// A value other than the default.
    let value: String
    /// The results of `look` with the default value and with `value`.
    let shows: (defaultValue: String, changed: String)
    let look: @Sendable (RunningDaemon) throws -> String
  }

  private static func metric(_ name: String, of daemon: RunningDaemon) throws -> String {
    let lines = try daemon.ctl("metrics").output.split(separator: "\n")
    return String(try #require(lines.first { $0.hasPrefix(name + " ") }).dropFirst(name.count + 1))
  }

  private static let proofs: [String: Proof] = {
    var proofs: [String: Proof] = [
      "log.level": Proof(value: "debug", shows: ("info\n", "debug\n")) {
        try $0.ctl("log-level").output
      },
      "lanes": Proof(value: "5", shows: ("fewer", "5")) {
        let lanes = try $0.ctl("status", "--json=short").json()["lanes"] as? Int ?? 0
        // The default number of lanes depends on the machine.
        return lanes == 5 ? "5" : "fewer"
      },
      "rooms.maximum": Proof(value: "1", shows: ("0 0", "0 1")) { daemon in
        try ["one", "two"].map { "\(try daemon.ctl("open", $0).status)" }.joined(separator: " ")
      },
      "rooms.open": Proof(value: "[evening]", shows: ("1", "0")) {
        "\(try $0.ctl("show", "evening").status)"
      },
      "rooms.chatHistory": Proof(value: "3", shows: ("9 of 9", "3 of 9"), look: messages),
      "rooms.chatWaves": Proof(value: "true", shows: ("not searched", "searched")) { daemon in
        _ = try daemon.ctl("send", "main", #"{"type":"chat.clear"}"#)
        let chat = try daemon.ctl("show", "main", "chat", "--json=short").output
        return chat.contains(#""waves""#) ? "searched" : "not searched"
      },
      "rooms.reportedMessages": Proof(value: "2", shows: ("9 of 9", "2 of 9"), look: messages),
      "rooms.framesPerSecond": Proof(value: "10", shows: ("more", "at most 10 a second")) {
        daemon in
        let room = try play(stream(of: .chat), into: daemon)
        // 20 seconds at 10 frames a second, plus a frame for the first event and a frame for the
        // acknowledgement.
        return try #require(room["frames"] as? Int) <= 202 ? "at most 10 a second" : "more"
      },
      "rooms.requestTimeout": Proof(value: "20ms", shows: ("pending", "no answer")) { daemon in
        _ = try daemon.ctl("open", "main")
        func actions() throws -> Int? {
          try daemon.ctl("show", "main", "--json=short").json()["actions"] as? Int
        }
        let before = try actions()
        let surface = try BlockingClient(daemon.controlSocket)
        try surface.write(
          #"{"method":"io.livehost.Control.MonitorRequests","parameters":{"room":"main"},"more":true}"#
            + "\0")
        while try actions() == before {}
        // Ends a drag, which requires a confirmation that the controller never sends.
        let slide = #"{"type":"slider","control":"zoom","phase":"end","value":0.5}"#
        _ = try daemon.ctl("send", "main", slide)
        // The limit is far below the default timeout, but long enough for the short timeout on a
        // busy machine.
        let limit = ContinuousClock.now + .seconds(2)
        while ContinuousClock.now < limit {
          let panel = try daemon.ctl("show", "main", "control", "--json=short").output
          if panel.contains("no answer") { return "no answer" }
        }
        return "pending"
      },
      "rooms.views": Proof(value: "watched", shows: ("with each frame", "for who looks")) {
        let room = try play(stream(of: .chat), into: $0)
        let views = try #require(room["views"] as? [String: Any])
        let chat = try #require(views["ChatView"] as? [String: Any])
        return try #require(chat["evaluations"] as? Int) > 10 ? "with each frame" : "for who looks"
      },
      "rooms.packAfter": Proof(value: "1ms", shows: ("whole", "packed")) { daemon in
        _ = try daemon.ctl("open", "main")
        // The daemon checks every half second whether rooms can hibernate.
        let limit = ContinuousClock.now + .seconds(3)
        while ContinuousClock.now < limit {
          let status = try daemon.ctl("status", "--json=short").json()
          if status["packedRooms"] as? Int == 1 { return "packed" }
        }
        return "whole"
      },
      "ingest.connections": Proof(value: "1", shows: ("open", "closed")) { daemon in
        let first = try BlockingClient(daemon.ingestSocket)
        _ = try first.sync("here")
        let second = try BlockingClient(daemon.ingestSocket)
        // The write may fail because the daemon has already closed the connection.
        let answer = try? second.sync("here")
        return answer?["type"] as? String == "synced" ? "open" : "closed"
      },
      "control.connections": Proof(value: "1", shows: ("0", "1")) { daemon in
        let first = try BlockingClient(daemon.controlSocket)
        // The answer proves that the connection is counted. A monitoring connection is busy, so the
        // daemon does not close it in favour of a new one.
        try first.write(#"{"method":"io.livehost.Control.MonitorHangs","more":true}"# + "\0")
        _ = first.receive()
        return "\(try daemon.ctl("status").status)"
      },
      "control.monitors": Proof(value: "1", shows: ("taken", "refused")) { daemon in
        let call = #"{"method":"io.livehost.Control.MonitorHangs","more":true}"# + "\0"
        let first = try BlockingClient(daemon.controlSocket)
        try first.write(call)
        _ = first.receive()
        let second = try BlockingClient(daemon.controlSocket)
        try second.write(call)
        return second.receive()?.contains("LimitReached") == true ? "refused" : "taken"
      },
      "recordings.scrubDays": Proof(value: "1", shows: ("604800", "86400")) {
        try metric("livehost_recordings_scrub_interval_seconds", of: $0)
      },
      "recordings.maximumAge": Proof(value: "1d", shows: ("0", "86400")) {
        try metric("livehost_recordings_maximum_age_seconds", of: $0)
      },
      "recordings.maximumBytes": Proof(value: "2KiB", shows: ("0", "2048")) {
        try metric("livehost_recordings_maximum_bytes", of: $0)
      },
    ]
    for kind in ThrottledKind.allCases { proofs["throttle.\(kind.rawValue)"] = throttling(kind) }
    return proofs
  }()

  @Test(
    arguments: Configuration.keys)
  func `every configuration key takes effect, both with its default and with another value`(
    key: FileKey<Configuration>
  ) throws {
    let proof = try #require(
      Self.proofs[key.path], "\(key.path) has no proof: add one to `proofs` in this file")
    #expect(proof.shows.defaultValue != proof.shows.changed)
    for (value, expected) in [
      (key.defaultValue, proof.shows.defaultValue), (proof.value, proof.shows.changed),
    ] {
      let daemon = try RunningDaemon(arguments: ["--config", try file(key.path, value)])
      #expect(try proof.look(daemon) == expected, "\(key.path): \(value)")
      _ = daemon.stop()
    }
  }

  @Test func `every configuration key has a test, and every test has a configuration key`() {
    #expect(Set(Self.proofs.keys) == Set(Configuration.keys.map(\.path)))
  }

  @Test func `every configuration key is documented in the default file and in the manual page`()
    throws
  {
    let printed = try run("livehostd", ["--print-default-config"]).output
    let lines = printed.split(separator: "\n").map(String.init)
    for key in Configuration.keys {
      let name = try #require(key.path.split(separator: ".").last)
      let place = try #require(
        lines.firstIndex { $0.hasPrefix("#") && $0.hasSuffix("# \(key.summary)") }, "\(key.path)")
      #expect(lines[place + 1].hasSuffix("\(name): \(key.defaultValue)"), "\(key.path)")
      #expect(key.summary.hasSuffix(".") && key.summary.count > 20, "\(key.path)")
    }
    // The keys on the page are generated from the program's output.
    let page = try String(
      contentsOfFile: repositoryFile("packaging/man/livehostd.conf.5.in"), encoding: .utf8)
    #expect(page.contains("@configuration-keys@"))
  }

  // MARK: What daemons show

  private func file(_ path: String, _ value: String) throws -> String {
    let parts = path.split(separator: ".")
    let text = parts.count == 1 ? "\(path): \(value)\n" : "\(parts[0]):\n  \(parts[1]): \(value)\n"
    let file = try temporaryDirectory().appendingPathComponent("livehostd.yaml")
    try text.write(to: file, atomically: true, encoding: .utf8)
    return file.path
  }

  @Sendable private static func messages(_ daemon: RunningDaemon) throws -> String {
    for number in 1...9 {
      _ = try daemon.ctl(
        "send", "main",
        #"{"type":"chat.message","id":"\#(number)","user":{"id":"u","name":"n"},"text":"t"}"#)
    }
    let room = try daemon.ctl("show", "main", "--json=short").json()
    let chat = (room["features"] as? [String: Any])?["chat"] as? [String: Any]
    let shown = try #require((chat?["messages"] as? [Any])?.count)
    return "\(shown) of \(try #require(chat?["total"] as? Int))"
  }

  /// Proves a throttle's interval: a longer interval turns the same events into fewer actions.
  private static func throttling(_ kind: ThrottledKind) -> Proof {
    Proof(value: "{interval: 10s}", shows: ("many", "few")) { daemon in
      let room = try play(stream(of: kind), into: daemon)
      let kinds = try #require(room["actionsByKind"] as? [String: Int])
      let feature = self.feature(of: kind)
      let actions = kinds.filter { $0.key.hasPrefix("\(feature).") }.values.reduce(0, +)
      return actions > 8 ? "many" : "few"
    }
  }

  private static func feature(of kind: ThrottledKind) -> String {
    switch kind {
    case .chat: "chat"
    case .waitingRoom: "waitingRoom"
    case .controls, .meters: "control"
    case .reactions, .viewers: "header"
    case .votes: "poll"
    case .statistics: "liveRoomStats"
    case .progress: "recorder"
    case .sources: "sources"
    case .goals: "activity"
    }
  }

  /// Returns an event of a kind every 20 ms for 20 s. The time stamps set the room's clock.
  private static func stream(of kind: ThrottledKind) -> [String] {
    (0..<1_000).map { number in
      let members =
        switch kind {
        case .chat:
          #""type":"chat.message","id":"\#(number)","user":{"id":"u","name":"n"},"text":"t""#
        case .waitingRoom: #""type":"waiting.join","user":{"id":"u\#(number)","name":"n"}"#
        case .controls: #""type":"slider","control":"volume","phase":"change","value":0.\#(number)"#
        case .meters: #""type":"meter","input":"microphone","levels":[0.\#(number)]"#
        case .reactions: #""type":"reaction","kind":"heart","count":1"#
        case .viewers: #""type":"viewers","count":\#(number)"#
        case .votes where number == 0:
          #""type":"poll.begin","id":"p","title":"t","options":["a"]"#
        case .votes: #""type":"poll.votes","id":"p","totals":[\#(number)]"#
        case .statistics: #""type":"stats","bitrateKbps":\#(4_000 + number)"#
        case .progress:
          #""type":"recorder.progress","bytes":\#(number * 1_000),"durationMs":\#(number)"#
        case .sources: #""type":"source.state","source":"s","state":"live","lost":\#(number)"#
        case .goals: #""type":"goal","title":"followers","count":\#(number),"target":2000"#
        }
      return #"{\#(members),"ts":\#(1_700_000_000_000 + number * 20)}"#
    }
  }

  private static func play(_ lines: [String], into daemon: RunningDaemon) throws -> [String: Any] {
    let ingest = try BlockingClient(daemon.ingestSocket)
    try ingest.write(#"{"type":"options","clock":"event"}"# + "\n")
    try ingest.write(lines.joined(separator: "\n") + "\n")
    let answer = try #require(try ingest.sync("played"))
    #expect(answer["rejected"] as? Int == 0)
    return try daemon.ctl("show", "main", "--json=short").json()
  }
}

extension FileKey: CustomTestStringConvertible {
  public var testDescription: String { path }
}
