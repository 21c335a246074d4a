import JSON
import LiveEvents

/// The inputs and scenes of OBS as controls of a room.
///
/// An input is a slider named `INPUT` or `volume INPUT`, and a switch named `mute INPUT`. A scene
/// is a switch named `scene SCENE`. The switch `stream` starts and stops the stream.
struct ObsMixer: Sendable {
  static let stream = "stream"
  static let recorder = "recorder"
  static let endStream = "endStream"
  static let fixed = [endStream, recorder, stream]
  private static let mute = "mute "
  private static let scene = "scene "
  private static let volume = "volume "
  /// The maximum numbers of inputs and scenes, since a controller may have at most 256 controls.
  private static let maximumInputs = 64
  private static let maximumScenes = 120
  /// The maximum length of an input's or scene's name, which leaves space for a control's prefix.
  private static let longestName = 240

  enum Switch: Equatable {
    case mute(input: String)
    case scene(String)
    case stream
  }

  /// The inputs in OBS's order, including inputs without sound.
  private var inputs: [String] = []
  private var audio: Set<String> = []
  private var scenes: [String] = []
  private var currentScene: String?
  /// The state last reported to the room for each control, so that only changes are reported.
  private var reported: [String: ControlState] = [:]
  private var levels: [String: [Float]] = [:]
  private var announced: [String]?

  mutating func update(scenes reply: JSONValue, inputs list: JSONValue) {
    func names(_ list: JSONValue?, _ member: String, atMost count: Int) -> [String] {
      let names = (list?.arrayValue ?? []).compactMap { $0[member]?.word(atMost: Self.longestName) }
      return Array(names.filter { !$0.isEmpty }.prefix(count))
    }
    inputs = names(list["inputs"], "inputName", atMost: Self.maximumInputs)
    // OBS lists the scenes in reverse order.
    scenes = names(reply["scenes"], "sceneName", atMost: Self.maximumScenes).reversed()
    currentScene = reply["currentProgramSceneName"]?.word()
    audio = []
    levels = levels.filter { inputs.contains($0.key) }
    let controls = Set(controls(of: inputs))
    reported = reported.filter { controls.contains($0.key) }
  }

  var volumeRequests: [(id: String, request: ObsRequest)] {
    inputs.flatMap { input in
      ["GetInputVolume", "GetInputMute"].map {
        (input, ObsRequest($0, ["inputName": .string(input)]))
      }
    }
  }

  /// Applies the answers to ``volumeRequests``. Returns the changed states of controls.
  mutating func applyVolumes(_ responses: [ObsResponse]) -> [ObsEvent] {
    var events: [ObsEvent?] = []
    // OBS answers with an error for an input without sound.
    for response in responses where response.isDone && inputs.contains(response.id) {
      audio.insert(response.id)
      if response.type == "GetInputVolume" {
        events.append(volume(of: response.id, response.data))
      } else {
        events.append(muting(of: response.id, response.data))
      }
    }
    return events.compactMap { $0 } + scene(currentScene)
  }

  /// Returns all controls, or `nil` if they have not changed since the last call.
  mutating func newControls() -> [String]? {
    let all = controls(of: inputs.filter(audio.contains))
    guard all != announced else { return nil }
    announced = all
    return all
  }

  private func controls(of inputs: [String]) -> [String] {
    Self.fixed + inputs.flatMap { [slider(of: $0), Self.mute + $0] }
      + scenes.map { Self.scene + $0 }
  }

  /// Returns the slider of an input, named after the input unless a switch has that name. For
  /// example, an input named `mute Mic` conflicts with the switch that mutes `Mic`.
  private func slider(of input: String) -> String {
    guard `switch`(input, of: inputs) != nil || Self.fixed.contains(input) else { return input }
    var name = Self.volume + input
    while inputs.contains(name) { name = Self.volume + name }
    return name
  }

  /// Returns the input whose volume a slider controls.
  func input(ofSlider name: String) -> String? {
    inputs.first { audio.contains($0) && slider(of: $0) == name }
  }

  func `switch`(_ name: String) -> Switch? { `switch`(name, of: inputs.filter(audio.contains)) }

  private func `switch`(_ name: String, of inputs: [String]) -> Switch? {
    if name == Self.stream { return .stream }
    if name.hasPrefix(Self.mute), inputs.contains(String(name.dropFirst(Self.mute.count))) {
      return .mute(input: String(name.dropFirst(Self.mute.count)))
    }
    if name.hasPrefix(Self.scene), scenes.contains(String(name.dropFirst(Self.scene.count))) {
      return .scene(String(name.dropFirst(Self.scene.count)))
    }
    return nil
  }

  // MARK: State of OBS

  mutating func volume(of input: String, _ data: JSONValue) -> ObsEvent? {
    guard audio.contains(input), let decibels = data["inputVolumeDb"]?.numberValue else {
      return nil
    }
    return news(slider(of: input), .value(ObsFader.position(decibels: decibels)))
  }

  mutating func muting(of input: String, _ data: JSONValue) -> ObsEvent? {
    guard audio.contains(input), let isMuted = data["inputMuted"]?.boolValue else { return nil }
    return news(Self.mute + input, .position(on: isMuted))
  }

  /// Records that another scene is live.
  mutating func scene(_ name: String?) -> [ObsEvent] {
    currentScene = name
    return scenes.compactMap { news(Self.scene + $0, .position(on: $0 == name)) }
  }

  mutating func streams(_ isOn: Bool) -> ObsEvent? { news(Self.stream, .position(on: isOn)) }

  private mutating func news(_ control: String, _ state: ControlState) -> ObsEvent? {
    guard reported[control] != state else { return nil }
    reported[control] = state
    return .control(control, state)
  }

  /// Returns the levels that changed. Most inputs are silent most of the time.
  mutating func meters(_ data: JSONValue) -> [ObsEvent] {
    (data["inputs"]?.arrayValue ?? []).compactMap { input in
      guard let name = input["inputName"]?.word(), audio.contains(name) else { return nil }
      let peaks = (input["inputLevelsMul"]?.arrayValue ?? [])
        .prefix(ControlEvent.maximumChannels).map { channel in
          // OBS sends each channel's magnitude, peak, and peak before the fader. A peak may exceed
          // 1.
          Float(min(max(channel.arrayValue?.dropFirst().first?.numberValue ?? 0, 0), 1))
        }
      guard !peaks.isEmpty, levels[name] != peaks else { return nil }
      levels[name] = peaks
      return .meter(name, peaks)
    }
  }

  /// Forgets the reported states, so that all states are reported again: they may have changed
  /// while the connection was lost.
  mutating func forget() {
    reported = [:]
    levels = [:]
  }
}
