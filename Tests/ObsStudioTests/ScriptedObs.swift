import JSON
import LiveEvents
import LiveSources
import ObsStudio
import RateLimiting
import TestSupport

/// A session connected to a simulated OBS, on virtual time.
struct ScriptedObs {
  private(set) var session: ObsSession
  private(set) var now = Instant.origin
  /// The events reported to the room, and the statuses and gaps.
  private(set) var reported: [ObsEvent] = []
  private(set) var statuses: [SourceStatus] = []
  private(set) var gaps: [(from: Instant, to: Instant, reason: String)] = []
  private(set) var outcomes: [String: RequestOutcome] = [:]
  private(set) var controls: [String] = []
  /// The messages that the simulated OBS has not answered yet.
  private(set) var received: [JSONValue] = []
  private(set) var attempts: [Instant] = []
  private(set) var refusals: [String] = []
  private var link = 0

  // The state of the simulated OBS.
  var password: String?
  var isLoading = false
  var isSilent = false
  var inputs: [String: Double] = ["Mic": -6]
  var scenes = ["Main"]
  var stream: [JSONName: JSONValue] = ["outputActive": false]
  var record: [JSONName: JSONValue] = ["outputActive": false]

  init(password: String? = nil) {
    session = ObsSession(
      ObsSettings(password: password.map { Secret($0) }), generator: SplitMix64(seed: 1),
      at: .origin)
    self.password = password
    settle()
  }

  private mutating func settle() {
    for effect in session.takeEffects() {
      switch effect {
      case .connect(let id):
        link = id
        attempts.append(now)
      case .close: break
      case .send(_, let message): received.append(message)
      case .event(let event, _): reported.append(event)
      case .status(let status): statuses.append(status)
      case .gap(let from, let to, let reason): gaps.append((from, to, reason))
      case .controls(let controls): self.controls = controls
      case .outcome(let request, let outcome): outcomes[request] = outcome
      case .refused(let reason): refusals.append(reason)
      }
    }
  }

  /// Ends the source.
  mutating func finish() {
    session.finish(at: now)
    settle()
  }

  // MARK: The connection

  /// Connects and sends the greeting. All actions that are due before are performed first.
  mutating func connect(
    challenge: (salt: String, challenge: String)? = nil
  ) {
    session.wake(at: now)
    settle()
    session.opened(link, at: now)
    var hello: [JSONName: JSONValue] = ["rpcVersion": 1]
    if let challenge {
      hello["authentication"] = [
        "salt": .string(challenge.salt), "challenge": .string(challenge.challenge),
      ]
    }
    say(0, .object(hello))
  }

  /// Connects, accepts and answers until the session is live.
  mutating func live() {
    connect()
    say(2, ["negotiatedRpcVersion": 1])
    answer()
  }

  mutating func close(code: Int? = nil, reason: String = "the connection was closed") {
    received = []
    session.closed(link, code: code, reason: reason, at: now)
    settle()
  }

  /// Advances the time by an interval, performs the due actions, and answers requests.
  mutating func run(for interval: Interval, answering: Bool = true) {
    let end = now + interval
    while let deadline = session.deadline, deadline <= end {
      now = max(now, deadline)
      session.wake(at: now)
      settle()
      if answering { answer() }
    }
    now = end
  }

  // MARK: Messages

  mutating func say(_ operation: Int64, _ data: JSONValue) {
    session.receive(["op": .integer(operation), "d": data], on: link, at: now)
    settle()
  }

  mutating func say(_ message: JSONValue) {
    session.receive(message, on: link, at: now)
    settle()
  }

  mutating func event(_ type: String, _ data: JSONValue) {
    say(5, ["eventType": .string(type), "eventData": data])
  }

  mutating func output(_ type: String, _ state: String, isActive: Bool) {
    event(
      type,
      [
        "outputActive": .bool(isActive),
        "outputState": .string("OBS_WEBSOCKET_OUTPUT_" + state),
      ])
  }

  mutating func request(_ identifier: String, _ kind: ObsCommand.Kind) {
    session.handle(ObsCommand(identifier: identifier, kind: kind), at: now)
    settle()
  }

  mutating func withdraw(_ identifier: String) {
    session.withdraw(identifier)
    settle()
  }

  /// Answers all requests in order.
  mutating func answer() {
    guard !isSilent else { return }
    while !received.isEmpty { answer(received.removeFirst()) }
  }

  /// Answers the most recent request before all others.
  mutating func answerLast() {
    if let message = received.popLast() { answer(message) }
  }

  private mutating func answer(_ message: JSONValue) {
    guard let data = message["d"] else { return }
    let id = data["requestId"] ?? ""
    switch message["op"]?.integerValue {
    case 6?: say(7, reply(data))
    case 8?:
      let results = (data["requests"]?.arrayValue ?? []).map(reply)
      say(9, ["requestId": id, "results": .array(results)])
    default: break
    }
  }

  private func reply(_ request: JSONValue) -> JSONValue {
    let type = request["requestType"]?.stringValue ?? ""
    let input = request["requestData"]?["inputName"]?.stringValue ?? ""
    var data: JSONValue = .object([:])
    var code: Int64 = isLoading ? 207 : 100
    switch type {
    case "GetSceneList":
      data = [
        "currentProgramSceneName": .string(scenes.last ?? ""),
        "scenes": .array(scenes.map { ["sceneName": .string($0)] }),
      ]
    case "GetInputList":
      data = [
        "inputs": .array((inputs.keys.sorted() + ["Image"]).map { ["inputName": .string($0)] })
      ]
    case "GetInputVolume":
      if let volume = inputs[input] {
        data = ["inputVolumeDb": .number(volume)]
      } else {
        code = 604
      }
    case "GetInputMute":
      if inputs[input] != nil { data = ["inputMuted": false] } else { code = 604 }
    case "GetStreamStatus": data = .object(stream)
    case "GetRecordStatus": data = .object(record)
    case "GetStats": data = ["activeFps": 30]
    default: break
    }
    return [
      "requestType": .string(type), "requestId": request["requestId"] ?? "",
      "requestStatus": ["result": .bool(code == 100), "code": .integer(code)],
      "responseData": data,
    ]
  }

  /// Refuses the most recent request of a type.
  mutating func refuse(_ type: String, _ comment: String) {
    guard
      let index = received.lastIndex(where: { $0["d"]?["requestType"]?.stringValue == type })
    else { return }
    let request = received.remove(at: index)
    say(
      7,
      [
        "requestType": .string(type), "requestId": request["d"]?["requestId"] ?? "",
        "requestStatus": ["result": false, "code": 600, "comment": .string(comment)],
      ])
  }

  /// The unanswered requests, as `type` and `data`.
  var requests: [(type: String, data: JSONValue)] {
    received.compactMap { message in
      guard message["op"] == 6, let data = message["d"] else { return nil }
      return (data["requestType"]?.stringValue ?? "", data["requestData"] ?? .null)
    }
  }

  var streams: [StreamState] {
    reported.compactMap { if case .stream(let state) = $0 { state } else { nil } }
  }

  var recorders: [RecorderState] {
    reported.compactMap { if case .recorder(let state) = $0 { state } else { nil } }
  }

  var statistics: [StreamStatistics] {
    reported.compactMap { if case .statistics(let statistics) = $0 { statistics } else { nil } }
  }
}
