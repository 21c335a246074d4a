import JSON
import Varlink

/// Drives a certification service through its methods, each with what the one before returned.
struct CertificationClient {
  let client: VarlinkClient

  /// - Throws: What the service refuses.
  /// - Returns: Whether the service says that all is well.
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
