import JSON
import NIOCore
import Synchronization
import Varlink

/// The service that certification suites test clients against: `org.varlink.certification`.
///
/// A client must call all methods in order, each with the previous method's result. A wrong call is
/// answered with `CertificationError` and the expected call, and ends that client's run.
final class CertificationService: Sendable {
  /// The method that each client must call next.
  private let expected = Mutex<[String: String]>([:])

  static let order = ["Start"] + (1...11).map { $0 < 10 ? "Test0\($0)" : "Test\($0)" } + ["End"]

  func interface() throws -> Interface {
    var interface = try Interface(parsing: certificationText)
    for (index, method) in Self.order.enumerated() {
      if method == "Test10" {
        try interface.handleRawStream(method) { [self] call, replies in
          try check(call, index)
          for number in 1..<10 {
            try await replies.send(parameters: Self.numbered(number).buffer())
          }
          return Self.numbered(10).buffer()
        }
      } else {
        try interface.handleRaw(method) { [self] call in
          let client = try check(call, index)
          return (Self.replies[method] ?? ["client_id": .string(client)]).buffer()
        }
      }
    }
    return interface
  }

  static func numbered(_ number: Int) -> JSONValue { ["string": .string("Reply number \(number)")] }

  /// Checks that a call is the expected one.
  @discardableResult
  private func check(_ call: Call, _ index: Int) throws -> String {
    if index == 0 { return newClient() }
    let client = call.parameters["client_id"]?.stringValue ?? ""
    let due = expected.withLock { $0[client] }
    guard let due else { throw Self.error("ClientIdError", [:]) }
    var wanted = Self.wanted[call.method] ?? [:]
    wanted["client_id"] = .string(client)
    let mode = (more: call.method == "Test10", oneway: call.method == "Test11")
    guard due == call.method, Self.withoutNulls(call.parameters) == wanted,
      call.wantsMore == mode.more, call.isOneway == mode.oneway
    else {
      expected.withLock { $0[client] = nil }
      throw Self.error(
        "CertificationError",
        [
          "wants": Self.message(due, wanted, mode),
          "got": Self.message(call.method, call.parameters, (call.wantsMore, call.isOneway)),
        ])
    }
    let isLast = index + 1 == Self.order.count
    expected.withLock { $0[client] = isLast ? nil : Self.order[index + 1] }
    return client
  }

  private func newClient() -> String {
    let client = String(UInt64.random(in: .min ... .max), radix: 16)
    expected.withLock { $0[client] = Self.order[1] }
    return client
  }

  /// `MyType` has nullable members, which a client may send as null or leave out.
  private static func withoutNulls(_ parameters: [JSONName: JSONValue]) -> [JSONName: JSONValue] {
    guard case .object(let members)? = parameters["mytype"] else { return parameters }
    return parameters.merging(["mytype": .object(members.filter { $0.value != .null })]) { $1 }
  }

  private static func message(
    _ method: String, _ parameters: [JSONName: JSONValue], _ mode: (more: Bool, oneway: Bool)
  ) -> JSONValue {
    var message: [JSONName: JSONValue] = [
      "method": .string("org.varlink.certification.\(method)"), "parameters": .object(parameters),
    ]
    if mode.more { message["more"] = true }
    if mode.oneway { message["oneway"] = true }
    return .object(message)
  }

  private static func error(_ name: String, _ parameters: [JSONName: JSONValue]) -> VarlinkError {
    VarlinkError(name: "org.varlink.certification.\(name)", parameters: parameters)
  }
}
