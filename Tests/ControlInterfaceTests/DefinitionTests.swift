import ControlInterface
import ControlTestSupport
import JSON
import Testing
import Varlink
import VarlinkDescription

/// Tests of the interface definition, from which the Swift types are generated.
@Suite struct DefinitionTests {
  @Test func `systemd accepts the definition of the control interface`() throws {
    #expect(try InterfaceDescription(parsing: ControlInterface.definition).systemdViolations == [])
  }

  @Test
  func `all names of the interface are documented and in camel case, and no value is untyped`()
    throws
  {
    let description = try InterfaceDescription(parsing: ControlInterface.definition)
    #expect(!description.documentation.isEmpty)
    func check(_ fields: [InterfaceDescription.Field], of owner: String) {
      for field in fields {
        #expect(!field.documentation.isEmpty, "\(owner).\(field.name)")
        #expect(field.name.first?.isLowercase == true && !field.name.contains("_"))
        #expect(field.type != .any)
      }
    }
    for member in description.members {
      #expect(!member.documentation.isEmpty, "\(member.name)")
      switch member.kind {
      case .method(let input, let output): check(input + output, of: member.name)
      case .error(let fields), .type(.structure(let fields)): check(fields, of: member.name)
      case .type(.enumeration(let values)):
        for value in values { #expect(!value.documentation.isEmpty, "\(value.name)") }
      case .type: Issue.record("\(member.name) is neither a structure nor an enumeration")
      }
    }
  }

  @Test func `exactly the methods with several replies are declared to support the flag more`()
    throws
  {
    let marked = try InterfaceDescription(parsing: ControlInterface.definition).members.filter {
      $0.documentation.contains("[Supports 'more' flag]")
    }
    #expect(
      marked.map(\.name)
        == [
          "MonitorRoom", "VerifyRecordings", "StartTask", "Simulate", "MonitorHangs",
          "MonitorScreen", "MonitorRequests",
        ])
  }

  @Test func `every method of the interface has a handler`() throws {
    let interface = try ControlInterface.makeInterface(
      service: FakeService(), mayChange: { _ in true })
    #expect(interface.unimplementedMethods == [])
  }

  @Test func `exactly the methods that change nothing are open to everyone`() throws {
    let description = try InterfaceDescription(parsing: ControlInterface.definition)
    #expect(
      Set(description.methodNames).subtracting(ControlInterface.privilegedMethods) == [
        "Explain", "GetMetrics", "GetPositions", "GetRoom", "GetStatus", "ListHangs",
        "ListRecordings",
        "ListRooms", "ListSources", "ListTasks", "MonitorHangs", "MonitorRoom", "MonitorScreen",
      ])
  }

  @Test func `an error of the interface keeps its parameters when encoded and decoded`() throws {
    let all: [ControlError] = [
      .noSuchRoom("a"), .roomExists("b"), .noSuchRecording("c"), .recordingInUse("c"),
      .noSuchTask("d"),
      .taskCancelled("d"),
      .alreadyRecording("e"), .notRecording("f"), .recordingFailed(room: "g", reason: "h"),
      .noSuchView(room: "r", view: "v"),
      .invalidScenario(file: "f", line: 1, key: "k", message: "m"),
      .invalidScenario(file: "f", line: nil, key: nil, message: "m"),
      .invalidEvent(index: 3, reason: "unknownType", fault: nil), .limitReached("rooms"), .busy,
      .nobodyWaits(room: "r", user: nil), .nobodyWaits(room: "r", user: "u"),
      .roomFull(room: "r", capacity: 3), .noSuchMessage(room: "r", message: "m"),
      .noSuchNotice(room: "r", notice: 4), .noSuchActivity(room: "r", activity: 5),
      .noSuchRequest("r/1"),
      .noSurface(room: "r", control: "c"),
      .noController(room: "r", act: "ban", platform: nil),
      .noController(room: "r", act: "ban", platform: "twitch"),
      .severalControllers(room: "r", act: "say", choices: "twitch, kick"),
    ]
    let description = try InterfaceDescription(parsing: ControlInterface.definition)
    #expect(
      Set(all.map { $0.varlinkError.name })
        == Set(description.errorNames.map { "io.livehost.Control.\($0)" }))
    for error in all {
      let raw = error.varlinkError
      #expect(ControlError(raw) == error)
      let name = String(raw.name.dropFirst("io.livehost.Control.".count))
      guard case .error(let fields)? = description.member(name)?.kind else {
        Issue.record("\(name) not found")
        continue
      }
      #expect(description.mismatch(of: raw.parameters, against: fields) == nil)
    }
    #expect(ControlError(VarlinkError(name: "io.livehost.Control.Other")) == nil)
  }

  @Test(arguments: [RoomReport.empty, .full])
  func `the report of a room matches the interface definition`(report: RoomReport) throws {
    let description = try InterfaceDescription(parsing: ControlInterface.definition)
    let json = try JSONValue(encoding: report)
    guard case .method(_, let output)? = description.member("GetRoom")?.kind,
      case .object(let members) = json
    else {
      Issue.record("GetRoom not found")
      return
    }
    #expect(description.mismatch(of: members, against: output) == nil)
    #expect(try json.decode() == report)
  }

  @Test func `the status of the daemon matches the interface definition`() async throws {
    let description = try InterfaceDescription(parsing: ControlInterface.definition)
    guard case .method(_, let output)? = description.member("GetStatus")?.kind else {
      Issue.record("GetStatus not found")
      return
    }
    let json = try await JSONValue(encoding: FakeService().getStatus())
    #expect(description.mismatch(of: json.objectValue ?? [:], against: output) == nil)
  }

  @Test func `hangs and explanations match the interface definition`() async throws {
    let description = try InterfaceDescription(parsing: ControlInterface.definition)
    for hang in [HangReport.shortest, .full] {
      let json = try JSONValue(encoding: HangsReply(hangs: [hang]))
      for method in ["ListHangs", "MonitorHangs"] {
        guard case .method(_, let output)? = description.member(method)?.kind else {
          Issue.record("\(method) not found")
          continue
        }
        #expect(description.mismatch(of: json.objectValue ?? [:], against: output) == nil)
      }
    }
    guard case .method(_, let output)? = description.member("Explain")?.kind else {
      Issue.record("Explain not found")
      return
    }
    let explanation = try await FakeService().explain(room: "main", view: "HostView")
    let json = try JSONValue(encoding: explanation)
    #expect(description.mismatch(of: json.objectValue ?? [:], against: output) == nil)
  }

  @Test func `no report contains a member with the value null`() throws {
    let features = try #require(try JSONValue(encoding: RoomReport.empty)["features"]?.objectValue)
    #expect(features.keys.sorted() == ["control", "header", "recorder"])
    func hasNull(_ value: JSONValue) -> Bool {
      switch value {
      case .null: true
      case .array(let elements): elements.contains(where: hasNull)
      case .object(let members): members.values.contains(where: hasNull)
      case .bool, .integer, .number, .string: false
      }
    }
    for report in [RoomReport.empty, .full] {
      #expect(!hasNull(try JSONValue(encoding: report)))
    }
  }
}
