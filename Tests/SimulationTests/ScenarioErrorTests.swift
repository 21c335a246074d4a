import HangSimulation
import Simulation
import Testing
import YAMLReader

/// Errors in a scenario name the file, line, and key, with a remedy.
@Suite struct ScenarioErrorTests {
  /// A valid scenario. Each case below breaks one of its lines.
  static let good = """
    name: good
    seed: 1
    duration: 10s
    devices: [fast]
    events:
      - generate: chat.message
        arrival: poisson
        rate: 10/s
    faults: [{kind: stall, at: 2s, for: 1s}]
    variants:
      one: {host.children: tracked}
    thresholds: ["hangs == 0"]
    """

  struct Case: Sendable, CustomTestStringConvertible {
    var broken: String
    var replacement: String
    var line: Int?
    var key: String?
    var message: String

    init(
      _ broken: String, _ replacement: String, _ line: Int?, _ key: String?, _ message: String
    ) {
      self.broken = broken
      self.replacement = replacement
      self.line = line
      self.key = key
      self.message = message
    }

    var testDescription: String { replacement }
  }

  static let cases = [
    Case("seed: 1", "sede: 1", 2, "sede", "unknown key; did you mean 'seed'?"),
    Case("seed: 1", "seed: many", 2, "seed", "expected a whole number of 0 or more, not 'many'"),
    Case("seed: 1", "seed: -1", 2, "seed", "expected a whole number of 0 or more, not '-1'"),
    Case("seed: 1", "name: twice", 2, "name", "is a duplicate key; remove one"),
    Case("name: good", "description: nameless", 1, nil, "needs 'name'"),
    Case("name: good", "name:", 1, "name", "has no value"),
    Case("name: good", "name: [a]", 1, "name", "expected a single value"),
    Case(
      "duration: 10s", "duration: 10", 3, "duration",
      "expected a time such as 250ms, 0.5s or 10m, not '10'; did you mean '10s'?"),
    Case("duration: 10s", "duration: 2401h", 3, "duration", "is longer than 100 days"),
    Case("duration: 10s", "duration: 0s", 3, "duration", "must be longer than zero"),
    Case(
      "duration: 10s", "duration: 10 parsecs", 3, "duration",
      "expected a time such as 250ms, 0.5s or 10m, not '10 parsecs'"),
    Case("duration: 10s", "duration: {}", 3, "duration", "expected a time such as 250ms"),
    Case("[fast]", "[]", 4, "devices", "lists no devices"),
    Case("[fast]", "[fats]", 4, "devices[0]", "there is no device 'fats'; did you mean 'fast'?"),
    Case(
      "[fast]", "[fast+ho]", 4, "devices[0]",
      "the device fast has no condition 'ho'; did you mean 'hot'?"),
    Case(
      "[fast]", "[fast+hot+hot]", 4, "devices[0]", "has the condition 'hot' twice"),
    Case("[fast]", "[fast, fast]", 4, "devices[1]", "the device 'fast' is listed twice"),
    Case(
      "[fast]", "[fast+]", 4, "devices[0]",
      "expected a device such as iphone-13-mini+low-power, not 'fast+'"),
    Case(
      "chat.message", "chat.massage", 6, "events[0].generate",
      "there is no 'chat.massage'; did you mean 'chat.message'?"),
    Case(
      "arrival: poisson", "arrival: random", 7, "events[0].arrival",
      "there is no 'random'; use one of poisson, even"),
    Case(
      "rate: 10/s", "rate: 10", 8, "events[0].rate",
      "expected a rate such as 10/s or 3/m, not '10'; did you mean '10/s'?"),
    Case(
      "rate: 10/s", "rate: fast", 8, "events[0].rate",
      "expected a rate such as 10/s or 3/m, not 'fast'"),
    Case(
      "rate: 10/s", "size: 2", 6, "events[0]",
      "needs 'rate', 'stages', or 'at' (individual times)"),
    Case(
      "rate: 10/s", "rate: 10/s\n    size: 10001", 9, "events[0].size",
      "expected a whole number from 1 to 10000, not '10001'"),
    Case(
      "rate: 10/s", "stages: []", 8, "events[0].stages", "lists no stages"),
    Case(
      "rate: 10/s", "stages: [{rate: 1/s}]", 8, "events[0].stages[0]", "needs 'for'"),
    Case(
      "rate: 10/s", "stages: [{rate: 1/s, for: 0s}]", 8, "events[0].stages[0].for",
      "must be longer than zero"),
    Case(
      "rate: 10/s", "stages: [{rate: 1/s, during: 1s}]", 8, "events[0].stages[0].during",
      "unknown key; use one of rate, for"),
    Case(
      "rate: 10/s", "at: 1s", 7, "events[0].arrival", "contradicts 'at', which sets the times"),
    Case(
      "arrival: poisson", "event: {type: viewers, count: 1}", 7, "events[0].event",
      "contradicts 'generate'; use only one of them"),
    Case(
      "generate: chat.message", "from: 1s", 6, "events[0]",
      "needs 'recording', 'generate', or 'event'"),
    Case(
      "generate: chat.message", "event: {type: viewers}", 6, "events[0].event",
      "is not an event: a member that the type requires is absent: 'count' of viewers"),
    Case(
      "generate: chat.message", "event: {type: viewer, count: 1}", 6, "events[0].event",
      "is not an event: unknown 'type'; see livehost-events(5) for the types: 'viewer'"),
    Case(
      "generate: chat.message", "event: hello", 6, "events[0].event",
      "expected an event such as {type: stream, state: live}"),
    Case(
      "generate: chat.message", "recording: there.irc", 7, "events[0].arrival",
      "does not apply to a recording, which has its own times and events"),
    Case(
      "arrival: poisson", "speed: 2", 7, "events[0].speed",
      "applies only to recordings; use 'rate' instead"),
    Case(
      "arrival: poisson", "goal: 5", 7, "events[0].goal",
      "does not apply to this kind of event"),
    Case(
      "arrival: poisson", "within: 2s", 7, "events[0].within",
      "has no effect on a single event; set 'size'"),
    Case(
      "arrival: poisson", "late: 120%", 7, "events[0].late",
      "expected a share from 0% to 100%, not '120%'"),
    Case(
      "arrival: poisson", "lateBy: 1s", 7, "events[0].lateBy",
      "has no effect without 'late'"),
    Case(
      "kind: stall", "kind: stal", 9, "faults[0].kind", "there is no 'stal'; did you mean 'stall'?"),
    Case("at: 2s", "at: 20s", 9, "faults[0].at", "is after the end of the scenario"),
    Case(
      "arrival: poisson\n    rate: 10/s", "at: [1s, 11s]", 7, "events[0].at[1]",
      "is after the end of the scenario"),
    Case(
      "hangs == 0", "hangs == 0.5", 12, "thresholds[0]",
      "'0.5' is not a whole number; this metric is a count"),
    Case(
      "hangs == 0", "hitch < 10ms", 12, "thresholds[0]",
      "'10ms' is not a time per second; did you mean '10ms/s'?"),
    Case(
      "for: 1s}", "for: 1s, share: 5%}", 9, "faults[0].share",
      "does not apply to the kind stall"),
    Case(
      "for: 1s}", "for: 1s}, {kind: stall, at: 2500ms, for: 1s}", 9, "faults[1].at",
      "two faults of the kind stall overlap"),
    Case(
      "tracked", "followed", 11, "variants.one.host.children",
      "there is no 'followed'; use one of tracked, ignored"),
    Case(
      "host.children", "host.child", 11, "variants.one.host.child",
      "unknown key; did you mean 'host.children'?"),
    Case("one: {host.children: tracked}", "{}", 11, "variants", "lists no variants"),
    Case(
      "hangs == 0", "hags == 0", 12, "thresholds[0]",
      "there is no metric 'hags'; did you mean 'hangs'?"),
    Case(
      "hangs == 0", "view(HostVew).mean < 1ms", 12, "thresholds[0]",
      "there is no view 'HostVew'; did you mean 'HostView'?"),
    Case(
      "hangs == 0", "view(HostView).men < 1ms", 12, "thresholds[0]",
      "a view has no metric 'men'; did you mean 'mean'?"),
    Case(
      "hangs == 0", "effect(surfce).failed == 0", 12, "thresholds[0]",
      "there is no effect 'surfce'; did you mean 'surface'?"),
    Case(
      "hangs == 0", "effect(surface).answered.p42 < 1ms", 12, "thresholds[0]",
      "an effect has no metric 'answered.p42'; did you mean 'answered.p50'?"),
    Case(
      "faults: [{kind: stall, at: 2s, for: 1s}]", "effects: {surfce: {latency: 1s}}", 9,
      "effects.surfce", "unknown key; did you mean 'surface'?"),
    Case(
      "faults: [{kind: stall, at: 2s, for: 1s}]", "effects: {surface: {latncy: 1s}}", 9,
      "effects.surface.latncy", "unknown key; did you mean 'latency'?"),
    Case(
      "faults: [{kind: stall, at: 2s, for: 1s}]",
      "effects: {surface: {failures: 60%, silence: 50%}}", 9, "effects.surface.silence",
      "must not exceed 100% together with failures"),
    Case(
      "faults: [{kind: stall, at: 2s, for: 1s}]", "effects: surface", 9, "effects",
      "expected keys and values, such as 'surface: {latency: 80ms}'"),
    Case(
      "hangs == 0", "latency.p42 < 1ms", 12, "thresholds[0]",
      "there is no metric 'latency.p42'; did you mean 'latency.p50'?"),
    Case(
      "hangs == 0", "hangs", 12, "thresholds[0]",
      "expected a metric, a comparison (< <= > >= == !=), and a value, such as 'hangs == 0'"),
    Case(
      "hangs == 0", "longest < 5", 12, "thresholds[0]",
      "'5' is not a time; did you mean '5ms'?"),
    Case(
      "hangs == 0", "hangs < 5ms", 12, "thresholds[0]",
      "'5ms' is not a number; this metric needs a plain number"),
    Case(
      "hangs == 0", "hangs <", 12, "thresholds[0]", "the value after the comparison is missing"),
    Case(
      "hangs == 0", "hangs == 0 for fats", 12, "thresholds[0]",
      "there is no variant or device 'fats'; did you mean 'fast'?"),
    Case(
      "host.children: tracked", "throttle.chat: 0ms", 11, "variants.one.throttle.chat",
      "the value must be above zero; set a time above zero"),
    Case(
      "host.children: tracked", "throttle.chat: {class: latest-wins, interval: 1s}", 11,
      "variants.one.throttle.chat.class",
      "contradicts the class of chat, which is keep-all; remove it"),
    Case(
      "host.children: tracked", "throttle.viewers: {interval: 1s, trailing: false}", 11,
      "variants.one.throttle.viewers.trailing",
      "without a trailing edge the last value would never arrive; remove trailing"),
    Case(
      "host.children: tracked", "throttle.chat: {interval: 1s, leading: true}", 11,
      "variants.one.throttle.chat.leading", "the key does not apply to the class keep-all"),
    Case(
      "host.children: tracked", "throttle.meter: 1s", 11, "variants.one.throttle.meter",
      "unknown key; did you mean 'throttle.meters'?"),
    Case(
      "host.children: tracked", "throttle.meters: {interval: 50}", 11,
      "variants.one.throttle.meters.interval",
      "expected a time such as 250ms, 0.5s, 10m or frame, not '50'; did you mean '50ms'?"),
    Case(
      "host.children: tracked", "throttle.viewers: {capacity: 9}", 11,
      "variants.one.throttle.viewers.capacity", "is fixed for latest-wins; remove it"),
    Case(
      "host.children: tracked", "throttle.progress: 100ms", 11, "variants.one.throttle.progress",
      "100 ms is shorter than a second"),
    Case(
      "host.children: tracked", "throttle.chat: {maximum-staleness: 1s, interval: 2s}", 11,
      "variants.one.throttle.chat.maximum-staleness", "1000 ms is below the interval of 2000 ms"),
    Case("seed: 1", "seed: [1", nil, nil, "is not valid YAML"),
  ]

  @Test(arguments: cases)
  func `an error in a scenario names the line, the key and a remedy`(each: Case) throws {
    let text = Self.good.replacing(each.broken, with: each.replacement, maxReplacements: 1)
    #expect(text != Self.good)
    let error = #expect(throws: ConfigurationError.self) { _ = try Scenario(text, options()) }
    #expect(error?.file == "test.yaml")
    if let line = each.line { #expect(error?.line == line) }
    #expect(error?.key == each.key)
    #expect(error?.message.hasPrefix(each.message) == true, "\(error?.message ?? "")")
  }

  @Test func `these tests cover at least thirty kinds of errors in scenarios`() {
    #expect(Self.cases.count >= 30)
  }

  @Test func `the scenario that the error tests modify is valid`() throws {
    #expect(try Scenario(Self.good, options()).thresholds.count == 1)
  }

  @Test func `an error in a scenario has the format of a compiler error`() {
    let error = ConfigurationError(file: "a.yaml", line: 3, key: "seed", message: "is wrong")
    #expect(error.description == "a.yaml:3: seed: is wrong")
  }

  @Test(
    arguments: [
      ("a: 1", 1, "a", "unknown key"),
      (
        "title: No costs", 1, nil,
        "needs 'costs', or 'like' with the name of another device"
      ),
      ("like: fats", 1, "like", "there is no device 'fats'; did you mean 'fast'?"),
      ("{like: fast, slowdown: 0}", 1, "slowdown", "expected a factor of 0.01 to 1000, not '0'"),
      (
        "{like: fast, conditions: {hot: 0.9}}", 1, "conditions.hot",
        "expected a factor of 1 to 1000, not '0.9'"
      ),
      ("{like: fast, refreshRate: 500}", 1, "refreshRate", "expected a whole number from 1 to 240"),
      (
        "{like: fast, costs: {actions: {chat.mesages: 1ms}}}", 1, "costs.actions.chat.mesages",
        "unknown key; did you mean 'chat.messages'?"
      ),
      (
        "{like: fast, costs: {views: {CatView: {evaluation: 1ms}}}}", 1, "costs.views.CatView",
        "unknown key; did you mean 'ChatView'?"
      ),
      ("{like: bad}", 1, "like", "refers to itself through 'like'"),
    ] as [(String, Int, String?, String)])
  func `an error in a device profile names the profile's file, line and key`(
    text: String, line: Int, key: String?, message: String
  ) throws {
    let scenario = Self.good.replacing("[fast]", with: "[bad]")
    let error = #expect(throws: ConfigurationError.self) {
      _ = try Scenario(scenario, options(["config/devices/bad.yaml": text]))
    }
    #expect(error?.file == "config/devices/bad.yaml")
    #expect(error?.line == line)
    #expect(error?.key == key)
    #expect(error?.message.hasPrefix(message) == true, "\(error?.message ?? "")")
  }

  @Test func `a list in a scenario that exceeds its limit is rejected`() {
    func message(_ text: String) -> String? {
      let error = #expect(throws: ConfigurationError.self) { _ = try Scenario(text, options()) }
      return error?.message
    }
    func list(_ element: String, _ count: Int) -> String {
      "[" + Array(repeating: element, count: count).joined(separator: ", ") + "]"
    }
    let source = "  - {event: {type: title, title: a}, at: 1s}\n"
    let head = "name: many\nduration: 1s\ndevices: [fast]\nevents:\n"
    #expect(
      message(head + String(repeating: source, count: 1_001))
        == "lists more than 1,000 sources of events")
    #expect(
      message(Self.good.replacing("[fast]", with: list("fast", 257)))
        == "lists more than 256 devices")
    #expect(
      message(Self.good.replacing("[{kind: stall, at: 2s, for: 1s}]", with: list("{}", 65)))
        == "lists more than 64 faults")
    #expect(
      message(Self.good.replacing(#"["hangs == 0"]"#, with: list("hangs == 0", 257)))
        == "exceeds the limit of 256 thresholds")
  }

  @Test func `all recordings of a scenario together must fit the caller's limit`() throws {
    let line = #"{"type":"title","title":"a"}"# + "\n"
    let text = """
      name: recordings
      duration: 1s
      devices: [fast]
      events: [{recording: a.ndjson}, {recording: a.ndjson}]
      """
    func read(_ limit: Int) throws {
      _ = try Scenario(text, options(["a.ndjson": line]) { $0.recordingLimit = limit })
    }
    try read(2 * line.utf8.count)
    let error = #expect(throws: ConfigurationError.self) {
      try read(2 * line.utf8.count - 1)
    }
    #expect(error?.key == "events[1].recording")
    #expect(error?.message.contains("exceeds the daemon's limit for recordings") == true)
  }

  @Test func `an error names the recording that is missing, empty or truncated`() {
    func message(_ contents: [String: String]) -> String? {
      let scenario = Self.good.replacing(
        "generate: chat.message\n    arrival: poisson\n    rate: 10/s", with: "recording: a.irc")
      do {
        _ = try Scenario(scenario, options(contents))
        return nil
      } catch { return error.description }
    }
    #expect(message([:]) == "test.yaml:6: events[0].recording: there is no file 'a.irc'")
    #expect(message(["a.irc": "\n"])?.hasSuffix("'a.irc' contains no events") == true)
    #expect(message(["a.irc": "\u{1F}x"])?.hasSuffix("'a.irc' contains no events") == true)
  }

  @Test(
    arguments: [
      (["seed"], [], [], [], "--set: expected key=value, not 'seed'"),
      (["sed=1"], [], [], [], "--set: sed: unknown key; did you mean 'seed'?"),
      (["load=0"], [], [], [], "--set: load: expected a factor of 0.001 to 1000, not '0'"),
      ([], ["nothing"], [], [], "--device: there is no device 'nothing'; use one of fast, slow"),
      ([], [], ["ones"], [], "--variant: the scenario has no variant 'ones'; did you mean 'one'?"),
      ([], [], [], ["hangs"], "--threshold: expected a metric"),
    ] as [([String], [String], [String], [String], String)])
  func `an error in a command-line option of a simulation names the option`(
    settings: [String], devices: [String], variants: [String], thresholds: [String],
    message: String
  ) {
    let error = #expect(throws: ConfigurationError.self) {
      _ = try Scenario(
        Self.good,
        options {
          $0.settings = settings
          $0.devices = devices
          $0.variants = variants
          $0.thresholds = thresholds
        })
    }
    #expect(error?.isUsage == true)
    #expect(error?.description.hasPrefix(message) == true, "\(error?.description ?? "")")
  }
}
