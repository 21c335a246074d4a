import Foundation
import JSON
import LiveSources

/// The obs-websocket 5 protocol. In a message, `op` is the type, and `d` is the data.
enum ObsMessage {
  enum Operation: Int64 {
    case hello = 0
    case identify = 1
    case identified = 2
    case event = 5
    case request = 6
    case response = 7
    case batch = 8
    case batchResponse = 9
  }

  /// The codes with which OBS closes a connection permanently.
  enum CloseCode {
    static let wrongPassword = 4009
    static let wrongVersion = 4010
  }

  /// The status codes in responses to requests.
  enum Status {
    static let notReady: Int64 = 207
  }

  static let version: Int64 = 1
  /// The subscribed events: General, Config, Scenes, Inputs, Outputs, and the levels of inputs.
  static let events: Int64 = 1 | 2 | 4 | 8 | 64 | 65_536

  /// The members to parse in events and responses. A member's name has the same meaning in all of
  /// them.
  static let shape: JSONShape = {
    let number = JSONShape.test { $0.numberValue != nil }
    let count = JSONShape.test { $0.countValue != nil }
    return .object([
      "outputActive": .truth, "outputReconnecting": .truth, "outputPaused": .truth,
      "outputBytes": count, "outputDuration": count, "outputSkippedFrames": count,
      "outputCongestion": number, "activeFps": .test { ($0.numberValue ?? -1) >= 0 },
      "outputState": .test { $0.word()?.hasPrefix(ObsOutput.State.prefix) ?? false },
      "inputName": .text, "inputMuted": .truth, "inputVolumeDb": number,
      "sceneName": .text, "currentProgramSceneName": .text,
      "scenes": .list(.object(["sceneName": .text])),
      "inputs": .list(
        .object(["inputName": .text, "inputLevelsMul": .list(.list(number))])),
    ])
  }()

  static func identify(_ answer: String?) -> JSONValue {
    var data: [JSONName: JSONValue] = [
      "rpcVersion": .integer(version), "eventSubscriptions": .integer(events),
    ]
    if let answer { data["authentication"] = .string(answer) }
    return message(.identify, data)
  }

  static func request(_ request: ObsRequest, id: String) -> JSONValue {
    message(.request, request.members(id: id))
  }

  /// Returns a message with several requests, to which OBS responds in one message.
  static func batch(_ requests: [(id: String, request: ObsRequest)], id: String) -> JSONValue {
    message(
      .batch,
      [
        "requestId": .string(id),
        "requests": .array(requests.map { .object($0.request.members(id: $0.id)) }),
      ])
  }

  private static func message(
    _ operation: Operation, _ data: [JSONName: JSONValue]
  ) -> JSONValue {
    ["op": .integer(operation.rawValue), "d": .object(data)]
  }

  /// Returns the response to an authentication challenge.
  static func authentication(password: Secret, salt: String, challenge: String) -> String {
    let secret = password.reveal { base64(SHA256.hash(Array(($0 + salt).utf8))) }
    return base64(SHA256.hash(Array((secret + challenge).utf8)))
  }

  private static func base64(_ bytes: [UInt8]) -> String { Data(bytes).base64EncodedString() }
}

struct ObsRequest {
  var type: String
  var data: [JSONName: JSONValue] = [:]

  init(_ type: String, _ data: [JSONName: JSONValue] = [:]) {
    self.type = type
    self.data = data
  }

  fileprivate func members(id: String) -> [JSONName: JSONValue] {
    var members: [JSONName: JSONValue] = ["requestType": .string(type), "requestId": .string(id)]
    if !data.isEmpty { members["requestData"] = .object(data) }
    return members
  }
}

struct ObsResponse {
  let id: String
  let type: String
  let isDone: Bool
  let code: Int64
  let comment: String?
  let data: JSONValue

  /// Parses a response. Returns `nil` for any other value.
  init?(_ value: JSONValue) {
    guard let type = value["requestType"]?.word(), let status = value["requestStatus"] else {
      return nil
    }
    id = value["requestId"]?.word() ?? ""
    self.type = type
    isDone = status["result"]?.boolValue ?? false
    code = status["code"]?.integerValue ?? 0
    comment = status["comment"]?.stringValue
    data = value["responseData"] ?? .null
  }
}

extension JSONValue {
  var numberValue: Double? {
    switch self {
    case .integer(let integer): Double(integer)
    case .number(let number): number
    default: nil
    }
  }

  /// A non-negative count. Libraries may write a count as a decimal number, which is exact up to
  /// this limit.
  var countValue: Int? {
    numberValue.flatMap { $0 >= 0 && $0 < 9e15 ? Int($0) : nil }
  }
}
