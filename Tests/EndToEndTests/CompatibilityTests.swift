import Foundation
import JSON
import Testing

/// What livehost 0.1.0 left on disk, and what it said about it; see Tests/Compatibility/README.md.
@Suite(.serialized, .timeLimit(.minutes(5))) struct CompatibilityTests {
  private static let set = repositoryFile("Tests/Compatibility/0.1.0")

  /// A daemon of this version on a copy of the state, with the configuration that wrote it.
  private func restart() throws -> (daemon: RunningDaemon, directory: URL) {
    let directory = try temporaryDirectory()
    let tar = Process()
    tar.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    tar.arguments = ["tar", "-xzf", Self.set + "/state.tar.gz", "-C", directory.path]
    try tar.run()
    tar.waitUntilExit()
    try #require(tar.terminationStatus == 0)
    let daemon = try RunningDaemon(arguments: [
      "--config", Self.set + "/livehostd.yaml",
      "--state-dir", directory.appendingPathComponent("state").path,
    ])
    return (daemon, directory)
  }

  private func expected(_ name: String) throws -> JSONValue {
    try JSONValue(parsing: Data(contentsOf: URL(fileURLWithPath: Self.set + "/expected/" + name)))
  }

  private func json(_ daemon: RunningDaemon, _ arguments: String...) throws -> JSONValue {
    let outcome = try run(
      "livehostctl", ["--socket", daemon.controlSocket] + arguments + ["--json=short"])
    try #require(outcome.status == 0, "\(arguments): \(outcome.diagnostics)")
    return try JSONValue(parsing: Data(outcome.output.utf8))
  }

  /// The path to the first member that an older version showed and that is different now; nil if
  /// there is none. Members may have been added since, and null and absent are the same.
  private func difference(_ new: JSONValue?, from old: JSONValue, at path: String = "") -> String? {
    switch (old, new) {
    case (.object(let members), .object(let newMembers)?):
      return members.keys.sorted().lazy.compactMap {
        difference(newMembers[$0], from: members[$0] ?? .null, at: "\(path).\($0)")
      }.first
    case (.array(let elements), .array(let newElements)?) where elements.count == newElements.count:
      return elements.indices.lazy.compactMap {
        difference(newElements[$0], from: elements[$0], at: "\(path)[\($0)]")
      }.first
    default:
      return old == new ?? .null
        ? nil : "\(path): \(old) is now \(new.map { "\($0)" } ?? "absent")"
    }
  }

  /// A room without what changes with time after the restart.
  private func lasting(_ room: JSONValue) throws -> JSONValue {
    var room = try #require(room.objectValue)
    for name: JSONName in ["actions", "actionsByKind", "frames", "views"] { room[name] = nil }
    var features = try #require(room["features"]?.objectValue)
    if var chat = features["chat"]?.objectValue {
      (chat["rate"], chat["recent"]) = (nil, nil)
      features["chat"] = .object(chat)
    }
    // A drag whose release never comes, as in the room that was cut, is committed by a time-out, so only the sum lasts.
    if var control = features["control"]?.objectValue {
      let committed = try #require(control["committed"]?.integerValue)
      let dragging = try #require(control["dragging"]?.arrayValue)
      control["committed"] = .integer(committed + Int64(dragging.count))
      control["dragging"] = nil
      if room["room"]?.stringValue?.hasSuffix("cut") == true,
        var values = control["values"]?.objectValue
      {
        values["zoom"] = nil
        control["values"] = .object(values)
      }
      features["control"] = .object(control)
    }
    if room["phase"] == "live", var header = features["header"]?.objectValue {
      header["durationMs"] = nil
      features["header"] = .object(header)
    }
    // It is being recorded again.
    if room["room"] == "cut" { features["recorder"] = nil }
    room["features"] = .object(features)
    return .object(room)
  }

  @Test func `rooms are restored as 0.1.0 showed them`() throws {
    let (daemon, directory) = try restart()
    defer { try? FileManager.default.removeItem(at: directory) }
    for room in ["waiting", "live", "evening", "twitch", "cut", "lobby"] {
      let old = try lasting(expected("show-\(room).json"))
      let new = try lasting(json(daemon, "show", room))
      #expect(difference(new, from: old) == nil, "\(room)")
    }
    #expect(!daemon.log.contains("cannot be used"), "\(daemon.log)")
    #expect(daemon.stop() == 0)
  }

  @Test func `recordings are listed, exported and replayed to the state that 0.1.0 showed`() throws
  {
    let (daemon, directory) = try restart()
    defer { try? FileManager.default.removeItem(at: directory) }
    var listed: [JSONName: JSONValue] = [:]
    for recording in try json(daemon, "record", "list").arrayValue ?? [] {
      listed[JSONName(recording["room"]?.stringValue ?? "")] = recording
    }
    for case .object(var old) in try expected("recordings.json").arrayValue ?? [] {
      let room = try #require(old["room"]?.stringValue)
      let name = try #require(old["recording"]?.stringValue)
      // It stood for what 0.1.0 reported, so it cannot be compared with the digest of a replay
      // here.
      old["digest"] = nil
      #expect(listed[JSONName(room)]?["digest"] == nil)
      // One that was cut continues in a new segment, with times of its own.
      if room != "cut" {
        #expect(difference(listed[JSONName(room)], from: .object(old)) == nil, "\(room)")
      }

      let export = try run(
        "livehostctl", ["--socket", daemon.controlSocket, "record", "export", name])
      let lines = try String(
        contentsOfFile: Self.set + "/expected/export-\(room).jsonl", encoding: .utf8)
      #expect(export.output == lines, "\(room)")

      let replay = try expected("replay-\(room).json")
      let result = try json(daemon, "replay", name, "--room", "played-\(room)", "--speed", "max")
      #expect(result["events"] == replay["result"]?["events"], "\(room)")
      let shown = try lasting(json(daemon, "show", "played-\(room)"))
      let old = try lasting(try #require(replay["show"]))
      #expect(difference(shown, from: old) == nil, "\(room)")
    }
    #expect(daemon.stop() == 0)
  }

  @Test func `a recording made now has a digest that its replay gives, in another process too`()
    throws
  {
    let first = try RunningDaemon()
    for arguments in [["open", "main"], ["record", "start", "main"]] {
      #expect(try run("livehostctl", ["--socket", first.controlSocket] + arguments).status == 0)
    }
    let ingest = try first.ctl(
      "ingest", RecordingTests.recording, "--speed", "max", "--room", "main")
    #expect(ingest.status == 0, "\(ingest.diagnostics)")
    let recording = try json(first, "record", "stop", "main")
    let digest = try #require(recording["digest"]?.stringValue)
    let name = try #require(recording["recording"]?.stringValue)
    #expect(first.stop() == 0)
    let second = try RunningDaemon(
      arguments: ["--state-dir", first.directory.appendingPathComponent("state").path])
    let result = try json(second, "replay", name, "--room", "again", "--speed", "max")
    #expect(result["digest"]?.stringValue == digest)
    #expect(try json(second, "record", "list").arrayValue?.first?["digest"]?.stringValue == digest)
    #expect(second.stop() == 0)
  }
}
