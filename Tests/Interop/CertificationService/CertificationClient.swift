import JSON
import Varlink

/// Calls the methods of a certification service in order, each with the previous method's result.
struct CertificationClient {
  let client: VarlinkClient

  /// Returns whether the service reports success. Throws the error of a refused call.
  func run() async throws -> Bool {
    func name(_ method: String) -> String { "org.varlink.certification.\(method)" }
    let start = try await client.callRaw(name("Start"))
    let identity: [JSONName: JSONValue] = ["client_id": start["client_id"] ?? .null]
    func with(_ parameters: [JSONName: JSONValue]) -> [JSONName: JSONValue] {
      identity.merging(parameters) { own, _ in own }
    }
    var reply: [JSONName: JSONValue] = [:]
    for method in CertificationService.order[1...9] {
      reply = try await client.callRaw(name(method), with(reply))
    }
    var strings: [JSONValue] = []
    let series = try client.callMore(
      name("Test10"), with(reply), returning: [JSONName: JSONValue].self)
    for try await reply in series { strings.append(reply["string"] ?? .null) }
    try await client.callOneway(name("Test11"), with(["last_more_replies": .array(strings)]))
    return try await client.callRaw(name("End"), identity)["all_ok"] == true
  }
}
