import JSON
import LiveEvents
import LiveSources
import ObsStudio
import RateLimiting
import SourceTestSupport
import TestSupport
import Testing

struct ObsSessionTests {
  // MARK: Connecting

  @Test func `the session answers OBS's authentication challenge as the protocol requires`() {
    // The example of the protocol's documentation.
    var obs = ScriptedObs(password: "supersecretpassword")
    obs.connect(
      challenge: (
        "lM1GncleQOaCu9lT1yeUZhFYnqhsLLP1G5lAGo3ixaI=",
        "+IxH4CnCiqpX1rM9scsNynZzbOe4KhDeYcTNS3PDaeY="
      ))
    let answer = obs.received.first?["d"]?["authentication"]?.stringValue
    #expect(answer == "1Ct943GAT+6YQUUX47Ia/ncufilbe6+oD6lY+5kaCu4=")
    #expect(obs.received.first?["d"]?["eventSubscriptions"] == 65_615)
    #expect(obs.refusals.isEmpty)
  }

  @Test func `a wrong or missing password and an incompatible version of OBS end the session`() {
    var wrong = ScriptedObs(password: "hunter2")
    wrong.connect(challenge: ("salt", "challenge"))
    wrong.close(code: 4009, reason: "Authentication failed.")
    var missing = ScriptedObs()
    missing.connect(challenge: ("salt", "challenge"))
    var version = ScriptedObs()
    version.connect()
    version.close(code: 4010)
    for obs in [wrong, missing, version] {
      #expect(obs.refusals.count == 1)
      #expect(obs.statuses.last?.state == .refused)
      #expect(obs.session.deadline == nil)
    }
    #expect(!"\(wrong.refusals) \(wrong.statuses)".contains("hunter2"))
  }

  @Test func `while OBS is not running, the session retries the connection at growing intervals`() {
    var obs = ScriptedObs()
    for _ in 0..<12 {
      obs.run(for: .seconds(130), answering: false)
      obs.close(reason: "connection refused")
    }
    #expect(obs.attempts.count == 12)
    #expect(obs.gaps.isEmpty)
    #expect(obs.statuses.last == SourceStatus(.connecting, reason: "connection refused"))
  }

  @Test func `an OBS that is still loading is polled until it is ready`() {
    var obs = ScriptedObs()
    obs.isLoading = true
    obs.live()
    obs.run(for: .seconds(5))
    #expect(obs.statuses.last?.state == .connecting)
    obs.isLoading = false
    obs.run(for: .seconds(1))
    #expect(obs.statuses.last?.state == .live)
  }

  @Test func `an OBS that sends no greeting or stops answering is disconnected`() {
    var mute = ScriptedObs()
    mute.connect()
    mute.run(for: .seconds(10))
    #expect(mute.statuses.last?.reason == "OBS does not answer")
    var silent = ScriptedObs()
    silent.live()
    silent.run(for: .seconds(3))
    silent.isSilent = true
    // Levels arrive without a request, even from an OBS whose window hangs.
    for _ in 0..<20 {
      silent.event("InputVolumeMeters", ["inputs": []])
      silent.run(for: .seconds(1))
    }
    #expect(silent.statuses.contains(SourceStatus(.connecting, reason: "no sign of life")))
  }

  @Test func `an outage of OBS is reported as a gap once OBS is back`() {
    var obs = ScriptedObs()
    obs.live()
    obs.run(for: .seconds(3))
    obs.close(reason: "reset")
    obs.run(for: .milliseconds(2_500), answering: false)
    #expect(obs.gaps.isEmpty)
    obs.connect()
    obs.say(2, [:])
    obs.answer()
    #expect(obs.gaps.count == 1)
    #expect(obs.gaps.first?.from == .origin + .seconds(3))
    #expect(obs.gaps.first?.to == .origin + .milliseconds(5_500))
    #expect(obs.gaps.first?.reason == "reset")
  }

  // MARK: Stream and recording

  @Test func `a stream in OBS starts, is lost, reconnects and ends`() {
    var obs = ScriptedObs()
    obs.live()
    #expect(obs.streams == [.waiting])
    obs.output("StreamStateChanged", "STARTING", isActive: false)
    obs.run(for: .seconds(1))
    #expect(obs.streams == [.waiting])
    obs.output("StreamStateChanged", "STARTED", isActive: true)
    obs.stream = ["outputActive": true, "outputReconnecting": false]
    obs.run(for: .seconds(2))
    // The event reports the stream as inactive, and the poll reports it as active.
    obs.output("StreamStateChanged", "RECONNECTING", isActive: false)
    obs.stream = ["outputActive": true, "outputReconnecting": true]
    obs.run(for: .seconds(2))
    #expect(obs.streams == [.waiting, .live, .paused])
    obs.output("StreamStateChanged", "RECONNECTED", isActive: true)
    obs.stream = ["outputActive": true, "outputReconnecting": false]
    obs.run(for: .seconds(2))
    obs.output("StreamStateChanged", "STOPPING", isActive: false)
    obs.run(for: .seconds(2))
    obs.output("StreamStateChanged", "STOPPED", isActive: false)
    obs.stream = ["outputActive": false]
    obs.run(for: .seconds(2))
    #expect(obs.streams == [.waiting, .live, .paused, .live, .ended])
  }

  @Test func `the answer to a status query that was sent before an event of OBS is ignored`() {
    var obs = ScriptedObs()
    obs.live()
    obs.output("StreamStateChanged", "STARTED", isActive: true)
    obs.stream = ["outputActive": true, "outputReconnecting": true]
    obs.run(for: .seconds(1), answering: false)
    obs.output("StreamStateChanged", "RECONNECTED", isActive: true)
    // This answer belongs to a request that was sent before the event.
    obs.answer()
    #expect(obs.streams == [.waiting, .live])
  }

  @Test func `a stream that fails to start is never reported as live`() {
    var obs = ScriptedObs()
    obs.live()
    obs.output("StreamStateChanged", "STARTING", isActive: false)
    obs.output("StreamStateChanged", "STOPPED", isActive: false)
    obs.run(for: .seconds(3))
    #expect(obs.streams == [.waiting])
  }

  @Test func `counters of OBS that restart are added to their earlier values`() {
    var obs = ScriptedObs()
    obs.stream = ["outputActive": true, "outputBytes": 1_000_000, "outputSkippedFrames": 5]
    obs.live()
    obs.stream["outputBytes"] = 1_125_000
    obs.stream["outputSkippedFrames"] = 7
    obs.run(for: .seconds(1))
    // After a reconnect, everything starts again from 0.
    obs.stream["outputBytes"] = 50_000
    obs.stream["outputSkippedFrames"] = 1
    obs.run(for: .seconds(1))
    #expect(obs.statistics.map(\.bitrateKbps) == [nil, 1_000, 400])
    #expect(obs.statistics.map(\.droppedFrames) == [5, 7, 8])
    #expect(obs.statistics.allSatisfy { $0.framesPerSecond == 30 })
  }

  @Test func `invalid counters of OBS are not added up, and the sums of counters never overflow`() {
    var obs = ScriptedObs()
    obs.stream = [
      "outputActive": true, "outputBytes": .integer(.max), "outputSkippedFrames": .integer(.max),
    ]
    obs.live()
    obs.stream["outputBytes"] = 5
    obs.stream["outputSkippedFrames"] = 5
    obs.run(for: .seconds(1))
    #expect(obs.statistics.map(\.droppedFrames) == [nil, 5])
    // The counter rises and falls until the sum would exceed 64 bits.
    for round in 0..<2_200 {
      obs.stream["outputSkippedFrames"] = round % 2 == 0 ? 8_999_999_999_999_999 : 0
      obs.run(for: .seconds(1))
    }
    let dropped = obs.statistics.compactMap(\.droppedFrames)
    #expect(dropped.last ?? 0 > Int.max - 9_000_000_000_000_000)
    #expect(zip(dropped, dropped.dropFirst()).allSatisfy { $0 <= $1 })
  }

  @Test func `the totals of counters restart with a new stream`() {
    var obs = ScriptedObs()
    obs.stream = ["outputActive": true, "outputSkippedFrames": 5]
    obs.live()
    obs.output("StreamStateChanged", "STOPPED", isActive: false)
    obs.output("StreamStateChanged", "STARTED", isActive: true)
    obs.stream["outputSkippedFrames"] = 2
    obs.run(for: .seconds(1))
    #expect(obs.statistics.last?.droppedFrames == 2)
  }

  @Test func `an interrupted recording is reported as failed, and a stopped one is not`() {
    var obs = ScriptedObs()
    obs.live()
    obs.output("RecordStateChanged", "STARTED", isActive: true)
    obs.record = ["outputActive": true, "outputBytes": 10, "outputDuration": 20]
    obs.run(for: .seconds(1))
    #expect(obs.reported.contains(.recorded(bytes: 10, milliseconds: 20)))
    obs.output("RecordStateChanged", "STOPPED", isActive: false)
    obs.record = ["outputActive": false]
    obs.run(for: .seconds(1))
    #expect(obs.recorders == [.idle, .recording, .idle])
    obs.output("RecordStateChanged", "STARTED", isActive: true)
    obs.close()
    obs.run(for: .seconds(1), answering: false)
    obs.live()
    obs.run(for: .seconds(2))
    #expect(obs.recorders == [.idle, .recording, .idle, .recording, .failed])
  }

  // MARK: Controls

  @Test func `OBS's inputs with sound, scenes and outputs become controls`() {
    var obs = ScriptedObs()
    obs.scenes = ["Break", "Main"]
    obs.live()
    #expect(
      obs.controls == [
        "endStream", "recorder", "stream", "Mic", "mute Mic", "scene Main", "scene Break",
      ])
    #expect(obs.reported.contains(.control("mute Mic", .position(on: false))))
    #expect(obs.reported.contains(.control("scene Main", .position(on: true))))
    #expect(obs.reported.contains(.control("scene Break", .position(on: false))))
    // About three quarters up, as OBS's fader shows it: log(102 / 12) / log(102 / 6).
    guard case .control(_, .value(let value))? = obs.reported.first(where: \.isSlider) else {
      Issue.record("no slider was reported")
      return
    }
    #expect(abs(value - 0.75534) < 0.00001)
    obs.inputs["Desktop"] = 0
    obs.event("InputCreated", ["inputName": "Desktop"])
    obs.run(for: .seconds(1))
    #expect(obs.controls.contains("mute Desktop"))
    #expect(obs.reported.contains(.control("Desktop", .value(1))))
  }

  @Test
  func `a slider changes the volume in OBS, and the reported change makes no further request`() {
    var obs = ScriptedObs()
    obs.live()
    obs.request("1", .slider("Mic", value: 0.5))
    let sent = obs.requests.last
    #expect(sent?.type == "SetInputVolume")
    #expect(obs.outcomes.isEmpty)
    guard case .number(let decibels)? = sent?.data["inputVolumeDb"] else {
      Issue.record("no volume was sent")
      return
    }
    #expect(abs(decibels - (6 - 612.0.squareRoot())) < 1e-9)
    obs.event("InputVolumeChanged", ["inputName": "Mic", "inputVolumeDb": .number(decibels)])
    obs.answer()
    #expect(obs.outcomes == ["1": .confirmed])
    guard case .control("Mic", .value(let value))? = obs.reported.last(where: \.isSlider) else {
      Issue.record("no slider was reported")
      return
    }
    #expect(abs(value - 0.5) < 1e-9)
    #expect(obs.requests.isEmpty)
  }

  @Test func `the lowest position of a volume slider is silence, and the highest is full volume`() {
    var obs = ScriptedObs()
    obs.live()
    obs.request("1", .slider("Mic", value: 0))
    obs.request("2", .slider("Mic", value: 1))
    #expect(obs.requests.first?.data["inputVolumeMul"] == 0.0)
    #expect(obs.requests.last?.data["inputVolumeDb"] == 0.0)
  }

  @Test func `switches mute inputs, select scenes and start the stream`() {
    var obs = ScriptedObs()
    obs.scenes = ["Break", "Main"]
    obs.live()
    obs.request("1", .switch("mute Mic", on: true))
    obs.request("2", .switch("scene Break", on: true))
    obs.request("3", .switch("stream", on: true))
    obs.request("4", .endStream)
    obs.request("5", .record(.pause))
    #expect(
      obs.requests.map(\.type) == [
        "SetInputMute", "SetCurrentProgramScene", "StartStream", "StopStream", "PauseRecord",
      ])
    obs.request("6", .switch("scene Main", on: false))
    obs.request("7", .slider("Image", value: 1))
    obs.request("8", .switch("light", on: true))
    for refused in ["6", "7", "8"] {
      guard case .refused? = obs.outcomes[refused] else {
        Issue.record("\(refused): \(String(describing: obs.outcomes[refused]))")
        continue
      }
    }
    obs.answer()
    #expect(obs.outcomes["1"] == .confirmed)
    #expect(obs.outcomes["2"] == .confirmed)
    // OBS tries to start. Nothing is streaming yet.
    #expect(obs.outcomes["3"] == nil)
  }

  @Test
  func `a request to start an output is confirmed once the output runs, or refused if it fails`() {
    var obs = ScriptedObs()
    obs.live()
    obs.request("1", .switch("stream", on: true))
    obs.answer()
    #expect(obs.outcomes["1"] == nil)
    obs.output("StreamStateChanged", "STARTING", isActive: false)
    obs.output("StreamStateChanged", "STARTED", isActive: true)
    obs.stream = ["outputActive": true]
    #expect(obs.outcomes["1"] == .confirmed)
    obs.request("2", .record(.start))
    obs.output("RecordStateChanged", "STARTING", isActive: false)
    obs.output("RecordStateChanged", "STOPPED", isActive: false)
    obs.answer()
    obs.run(for: .seconds(2))
    #expect(
      obs.outcomes["2"] == .refused(reason: "the recording did not start; OBS gives no reason"))
  }

  @Test func `a status query in flight does not cause the refusal of a request to start`() {
    var obs = ScriptedObs()
    obs.live()
    // A poll is in flight when OBS is asked to start. The poll reports that nothing runs.
    obs.run(for: .seconds(1), answering: false)
    obs.request("1", .record(.start))
    obs.answerLast()
    obs.answer()
    #expect(obs.outcomes["1"] == nil)
    obs.output("RecordStateChanged", "STARTED", isActive: true)
    #expect(obs.outcomes["1"] == .confirmed)
  }

  @Test func `a refusal by OBS refuses the request with OBS's reason`() {
    var obs = ScriptedObs()
    obs.live()
    obs.request("1", .record(.resume))
    obs.refuse("ResumeRecord", "The output is not paused.")
    #expect(obs.outcomes["1"] == .refused(reason: "The output is not paused."))
    obs.request("2", .record(.resume))
    obs.refuse("ResumeRecord", "e" + NastyText.marks)
    let clipped = "e" + String(NastyText.marks.unicodeScalars.prefix(119))
    #expect(obs.outcomes["2"] == .refused(reason: clipped))
  }

  @Test func `requests in flight when the connection is lost are refused, unless withdrawn`() {
    var obs = ScriptedObs()
    obs.live()
    obs.request("1", .slider("Mic", value: 0.5))
    obs.request("2", .slider("Mic", value: 0.6))
    obs.withdraw("1")
    obs.close()
    #expect(obs.outcomes == ["2": .refused(reason: "the connection to OBS was lost")])
    obs.request("3", .slider("Mic", value: 0.5))
    #expect(obs.outcomes["3"] == .refused(reason: "OBS is not connected"))
  }

  @Test func `a repeated answer of OBS is processed once`() {
    var obs = ScriptedObs()
    obs.connect()
    obs.say(2, [:])
    let asked = obs.received.last?["d"]?["requestId"] ?? ""
    obs.answer()
    #expect(obs.statuses.last?.state == .live)
    func done(_ type: String) -> JSONValue {
      ["requestType": .string(type), "requestStatus": ["result": true], "responseData": [:]]
    }
    obs.say(
      9, ["requestId": asked, "results": [done("GetSceneList"), done("GetInputList")]])
    #expect(obs.received.isEmpty)
  }

  @Test func `a scene that disappears and returns is reported again`() {
    var obs = ScriptedObs()
    for scenes in [["Break", "Main"], ["Main"], ["Break", "Main"]] {
      obs.scenes = scenes
      if obs.statuses.last?.state == .live {
        obs.event("SceneCreated", [:])
        obs.run(for: .seconds(1))
      } else {
        obs.live()
      }
    }
    #expect(obs.reported.count { $0 == .control("scene Break", .position(on: false)) } == 2)
    #expect(obs.reported.count { $0 == .control("scene Main", .position(on: true)) } == 1)
  }

  // MARK: Levels

  @Test func `meter levels are clamped peaks, and are reported when they change`() {
    var obs = ScriptedObs()
    obs.live()
    func meters(_ peak: Double) -> JSONValue {
      [
        "inputs": [
          [
            "inputName": "Mic",
            "inputLevelsMul": [[0.1, .number(peak), 0.9], [0.1, 1.7, 2.0]],
          ],
          ["inputName": "Image", "inputLevelsMul": []],
        ]
      ]
    }
    for peak in [0.5, 0.5, 0.25] { obs.event("InputVolumeMeters", meters(peak)) }
    let levels = obs.reported.filter { if case .meter = $0 { true } else { false } }
    #expect(levels == [.meter("Mic", [0.5, 1]), .meter("Mic", [0.25, 1])])
  }

  @Test(.timeLimit(.minutes(1)))
  func `names in OBS that are too long to compare are ignored`() {
    var obs = ScriptedObs()
    obs.scenes = ["Break", "Main"]
    obs.live()
    obs.request("1", .slider("Mic", value: 0.5))
    let before = obs.reported.count
    let text = JSONValue.string(NastyText.marks)
    let response: JSONValue = [
      "requestType": text, "requestId": text, "requestStatus": ["result": true],
      "responseData": [:],
    ]
    for data: JSONValue in [
      ["eventType": text],
      ["eventType": "StreamStateChanged", "eventData": ["outputState": text]],
      ["eventType": "RecordStateChanged", "eventData": ["outputState": text]],
      ["eventType": "InputVolumeChanged", "eventData": ["inputName": text, "inputVolumeDb": 0]],
      [
        "eventType": "InputMuteStateChanged", "eventData": ["inputName": text, "inputMuted": true],
      ],
      [
        "eventType": "InputVolumeMeters",
        "eventData": ["inputs": [["inputName": text, "inputLevelsMul": [[1, 1, 1]]]]],
      ],
    ] {
      obs.say(5, data)
    }
    obs.say(7, response)
    obs.say(9, ["requestId": text, "results": [response]])
    #expect(obs.reported.count == before)
    #expect(obs.outcomes.isEmpty)
    // A scene whose name is too long is not a control, so no scene is shown as on air.
    obs.event("CurrentProgramSceneChanged", ["sceneName": text])
    #expect(obs.reported.last == .control("scene Main", .position(on: false)))
    let announced = obs.controls
    obs.scenes.append(NastyText.marks)
    obs.event("SceneCreated", [:])
    obs.run(for: .seconds(1))
    #expect(obs.controls == announced)
  }

  @Test func `invalid messages of OBS change nothing`() {
    var obs = ScriptedObs()
    obs.live()
    let before = obs.reported.count
    for data: JSONValue in [
      .null, 1, "x", [], [:], ["eventType": 1],
      ["eventType": "StreamStateChanged", "eventData": ["outputState": "LIVE"]],
      [
        "eventType": "InputVolumeChanged", "eventData": ["inputName": "Mic", "inputVolumeDb": "x"],
      ],
      ["eventType": "InputVolumeMeters", "eventData": ["inputs": [1, ["inputName": "Mic"]]]],
      ["requestId": "poll 1 1", "results": 5],
    ] {
      for operation: Int64 in [0, 2, 5, 7, 9, 12, -1] { obs.say(operation, data) }
    }
    #expect(obs.reported.count == before)
    #expect(obs.statuses.last?.state == .live)
  }

  @Test func `events of OBS are encoded as lines that the daemon reads`() throws {
    let lines = [
      ObsEvent.stream(.live), .recorder(.paused), .recorded(bytes: 1, milliseconds: 2),
      .control("Mic", .value(0.5)), .control("mute Mic", .position(on: true)),
      .meter("Mic", [0, 0.5]), .statistics(StreamStatistics(bitrateKbps: 3, droppedFrames: 4)),
    ].map { String(decoding: $0.line(room: .main, at: 7), as: UTF8.self) }
    #expect(
      lines == [
        #"{"type":"stream","room":"main","ts":7,"state":"live"}"#,
        #"{"type":"recorder.state","room":"main","ts":7,"state":"paused"}"#,
        #"{"type":"recorder.progress","room":"main","ts":7,"bytes":1,"durationMs":2}"#,
        #"{"type":"control.state","room":"main","ts":7,"control":"Mic","value":0.5}"#,
        #"{"type":"control.state","room":"main","ts":7,"control":"mute Mic","on":true}"#,
        #"{"type":"meter","room":"main","ts":7,"input":"Mic","levels":[0.0,0.5]}"#,
        #"{"type":"stats","room":"main","ts":7,"bitrateKbps":3.0,"droppedFrames":4}"#,
      ])
  }

  // MARK: Names

  @Test func `an input with the name of a switch does not hide the switch`() {
    var obs = ScriptedObs()
    obs.inputs = [
      "Zero": 0, "mute Zero": -10, "scene Main": -20, "stream": -30, "volume stream": 0,
    ]
    obs.live()
    for control in [
      "Zero", "mute Zero", "volume mute Zero", "mute mute Zero", "volume scene Main", "scene Main",
      "volume volume stream", "volume stream", "stream",
    ] {
      #expect(obs.controls.filter { $0 == control }.count == 1, "\(control)")
    }
    #expect(obs.reported.contains(.control("mute Zero", .position(on: false))))
    #expect(
      !obs.reported.contains { if case .control("mute Zero", .value) = $0 { true } else { false } })
    obs.request("1", .switch("mute Zero", on: true))
    obs.request("2", .slider("volume mute Zero", value: 1))
    obs.request("3", .slider("volume volume stream", value: 1))
    #expect(
      obs.requests.map { "\($0.type) \($0.data["inputName"]?.stringValue ?? "")" } == [
        "SetInputMute Zero", "SetInputVolume mute Zero", "SetInputVolume stream",
      ])
  }

  @Test func `no unusable value from OBS affects other values`() {
    for unusable in OddValues.json {
      guard let value = JSONValue(lenient: Array(unusable.utf8)) else { continue }
      var obs = ScriptedObs()
      obs.live()
      let before = obs.reported.count
      for (type, member) in [
        ("InputVolumeChanged", "inputVolumeDb"), ("InputVolumeChanged", "inputName"),
        ("InputMuteStateChanged", "inputMuted"), ("InputVolumeMeters", "inputs"),
        ("CurrentProgramSceneChanged", "sceneName"), ("StreamStateChanged", "outputState"),
        ("RecordStateChanged", "outputState"),
      ] {
        obs.event(type, .object([JSONName(member): value, "other": value]))
      }
      obs.stream["outputBytes"] = value
      obs.stream["outputCongestion"] = value
      obs.run(for: .seconds(2))
      obs.event("InputMuteStateChanged", ["inputName": "Mic", "inputMuted": true])
      #expect(obs.reported.count > before)
      #expect(obs.reported.contains(.control("mute Mic", .position(on: true))), "\(unusable)")
      #expect(obs.statuses.last?.state == .live)
      // Many values are valid volumes or names, but the other required members are missing.
      guard value != .null, value.stringValue?.isEmpty != true else { continue }
      obs.run(for: .seconds(12))
      #expect(
        obs.statuses.last?.reason?.hasPrefix("unusable values ignored: ") == true, "\(unusable)")
    }
  }

  @Test func `unusable values from OBS are reported before the source ends, however soon it ends`()
  {
    var obs = ScriptedObs()
    obs.live()
    obs.event("CurrentProgramSceneChanged", ["sceneName": 7])
    obs.event("InputMuteStateChanged", ["inputName": "Mic", "inputMuted": "yes"])
    #expect(obs.statuses.last?.reason == "unusable values ignored: 1 sceneName")
    obs.finish()
    #expect(obs.statuses.last?.reason == "unusable values ignored: 1 inputMuted, 1 sceneName")
  }

  // MARK: Hostile input

  @Test(.timeLimit(.minutes(2)))
  func `100,000 hostile messages violate no invariant of the OBS session`() throws {
    let hostile = try HostileJSON([
      #"{"op":0,"d":{"obsWebSocketVersion":"5.1.0","rpcVersion":1,"authentication":{"challenge":"a","salt":"b"}}}"#,
      #"{"op":0,"d":{"rpcVersion":1}}"#, #"{"op":2,"d":{"negotiatedRpcVersion":1}}"#,
      #"{"op":5,"d":{"eventType":"StreamStateChanged","eventIntent":64,"eventData":{"outputActive":true,"outputState":"OBS_WEBSOCKET_OUTPUT_STARTED"}}}"#,
      #"{"op":5,"d":{"eventType":"RecordStateChanged","eventData":{"outputActive":false,"outputState":"OBS_WEBSOCKET_OUTPUT_STOPPED","outputPath":"/x"}}}"#,
      #"{"op":5,"d":{"eventType":"InputVolumeMeters","eventData":{"inputs":[{"inputName":"Mic","inputLevelsMul":[[0.1,0.2,0.3],[0.1,0.2,0.3]]}]}}}"#,
      #"{"op":5,"d":{"eventType":"InputVolumeChanged","eventData":{"inputName":"Mic","inputVolumeDb":-6,"inputVolumeMul":0.5}}}"#,
      #"{"op":5,"d":{"eventType":"InputMuteStateChanged","eventData":{"inputName":"Mic","inputMuted":true}}}"#,
      #"{"op":5,"d":{"eventType":"CurrentProgramSceneChanged","eventData":{"sceneName":"Main"}}}"#,
      #"{"op":5,"d":{"eventType":"InputCreated","eventData":{"inputName":"Other"}}}"#,
      #"{"op":7,"d":{"requestType":"GetInputList","requestId":"1","requestStatus":{"result":true,"code":100},"responseData":{"inputs":[{"inputName":"Mic"}]}}}"#,
      #"{"op":7,"d":{"requestType":"GetSceneList","requestId":"2","requestStatus":{"result":true,"code":100},"responseData":{"currentProgramSceneName":"Main","scenes":[{"sceneName":"Main"}]}}}"#,
      #"{"op":9,"d":{"requestId":"3","results":[{"requestType":"GetStreamStatus","requestStatus":{"result":true,"code":100},"responseData":{"outputActive":true,"outputReconnecting":false,"outputBytes":5,"outputCongestion":0.1,"outputSkippedFrames":1,"outputTotalFrames":2,"outputDuration":3}},{"requestType":"GetRecordStatus","requestStatus":{"result":true,"code":100},"responseData":{"outputActive":true,"outputPaused":false,"outputBytes":1,"outputDuration":2}},{"requestType":"GetStats","requestStatus":{"result":true,"code":100},"responseData":{"activeFps":30}}]}}"#,
    ])
    var generator = SplitMix64(seed: 19)
    var reported = 0
    for _ in 0..<400 {
      var obs = ScriptedObs()
      obs.live()
      for _ in 0..<250 {
        switch Int.random(in: 0..<20, using: &generator) {
        case 0: obs.answer()
        case 1: obs.run(for: .milliseconds(.random(in: 0...1500, using: &generator)))
        default:
          var message = hostile.message(using: &generator)
          // Answers count only if they were requested.
          if case .object(var members) = message, case .object(var data)? = members["d"],
            data["requestId"] != nil, let asked = obs.received.randomElement(using: &generator)
          {
            data["requestId"] = asked["d"]?["requestId"]
            members["d"] = .object(data)
            message = .object(members)
          }
          obs.say(message)
        }
      }
      reported += obs.reported.count
      // The lines for the room have a bounded length.
      for event in obs.reported { #expect(event.line(room: .main, at: 0).count < 65_536) }
    }
    #expect(reported > 1_000)
  }
}

extension ObsEvent {
  fileprivate var isSlider: Bool { if case .control(_, .value) = self { true } else { false } }
}
