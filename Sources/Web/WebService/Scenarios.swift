import ControlInterface
import FoundationEssentials
import HTTPTypes
import HangSimulation
import Hummingbird
import JSON
import NIOCore
import Simulation
import Varlink

/// The scenarios in a directory. The daemon simulates a scenario; it receives the scenario together
/// with all files that the scenario needs.
struct Scenarios: Sendable {
  /// The directory; `nil` if none is configured or found.
  let directory: String?
  let calls: MethodCalls

  /// Lists the scenarios, each with its name, devices and variants. Invalid scenarios are omitted.
  func list() -> Response {
    let scenarios = names.compactMap { name -> JSONValue? in
      let path = path(of: name)
      guard let text = text(path),
        let scenario = try? Scenario(text, SimulationOptions(path: path))
      else { return nil }
      return [
        "name": .string(name), "seed": .string("\(scenario.seed)"),
        "devices": .array(scenario.devices.map { .string($0.name) }),
        "variants": .array(scenario.variants.map { .string($0.name) }),
        "profiles": .array(ScenarioFiles.disk.deviceNames(scenario: path).map { .string($0) }),
      ]
    }
    return Reply.json(["scenarios": .array(scenarios)])
  }

  /// Simulates a scenario and sends each reply as one line.
  func simulate(_ request: Request, _ context: WebContext) async throws -> Response {
    if let refusal = calls.refusal(of: "Simulate", context) { return refusal }
    let body = try await calls.body(request, context)
    guard let order = try? JSONValue(parsing: String(buffer: body)),
      let name = order["scenario"]?.stringValue, names.contains(name),
      let text = text(path(of: name))
    else { return Reply.error(.badRequest, "scenario", "the scenario does not exist") }
    var options = SimulationOptions(path: path(of: name))
    options.devices = strings(order["devices"])
    options.variants = strings(order["variants"])
    options.settings = strings(order["settings"])
    options.seed = order["seed"]?.integerValue.flatMap { UInt64(exactly: $0) }
    options.wantsTrace = order["wantsTrace"]?.boolValue == true
    do {
      return try await calls.stream("Simulate", try parameters(text, options), context)
    } catch let error as VarlinkClientError {
      return Reply.error(error)
    } catch {
      return Reply.error(.badRequest, "scenario", "\(error)")
    }
  }

  private func parameters(_ text: String, _ options: SimulationOptions) throws -> JSONValue {
    let files = try Scenario.files(text, options)
    return [
      "path": .string(options.path), "scenario": .string(text),
      "files": .array(
        files.map { path, bytes in
          ["path": .string(path), "contents": .string(Data(bytes).base64EncodedString())]
        }),
      "devices": .array(options.devices.map { .string($0) }),
      "variants": .array(options.variants.map { .string($0) }),
      "seed": options.seed.map { .integer(Int64(bitPattern: $0)) } ?? .null,
      "settings": .array(options.settings.map { .string($0) }), "thresholds": [],
      "wantsPage": true, "wantsTrace": .bool(options.wantsTrace),
    ]
  }

  private var names: [String] {
    directory.map { ScenarioFiles.disk.list($0) }?
      .filter { $0.hasSuffix(".yaml") }.map { String($0.dropLast(5)) } ?? []
  }

  private func path(of name: String) -> String { "\(directory ?? "")/\(name).yaml" }

  private func text(_ path: String) -> String? {
    ScenarioFiles.disk.read(path).flatMap { String(validating: $0, as: UTF8.self) }
  }

  private func strings(_ value: JSONValue?) -> [String] {
    value?.arrayValue?.compactMap(\.stringValue) ?? []
  }
}
