import CheckoutScreen
import HangSimulation
import Testing

/// Costs fitted to measurements.
struct CalibrationTests {
  private static let names = Calibration.Names(
    views: ["CartView", "TotalView"], actions: ["cart.added", "cart.cleared"])

  /// Returns measurements of known costs as a table: with 5 % noise, and every tenth measurement
  /// interrupted so that it takes up to 20 times as long.
  private func lines(seed: UInt64) -> [UInt8] {
    var random = SeededGenerator(seed: seed)
    func measured(_ cost: Double) -> Double {
      // The sum of twelve uniform numbers is nearly normal.
      let sum = (0..<12).reduce(0) { sum, _ in sum + random.integer(in: 0...1_000_000) }
      let noise = 1 + 0.05 * (Double(sum) / 1e6 - 6)
      let isInterrupted = random.integer(in: 0...9) == 0
      return cost * noise * (isInterrupted ? Double(random.integer(in: 2...20)) : 1)
    }
    var lines = ["name,nanoseconds,elements,first"]
    for number in 0..<400 {
      let shown = random.integer(in: 0...40)
      let isFirst = number < 20
      let time = measured(2e6 + 3e5 * Double(shown) + (isFirst ? 6e7 : 0))
      lines.append("CartView,\(time),\(shown),\(isFirst)")
      let carried = random.integer(in: 0...10)
      lines.append("cart.added,\(measured(1e5 + 2e4 * Double(carried))),\(carried),false")
      lines.append("cart.cleared,\(measured(4e5)),0,false")
      lines.append("elsewhere,\(measured(1e3)),0,false")
    }
    return Array(lines.joined(separator: "\n").utf8)
  }

  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func `a calibration recovers known costs within 5 %, despite noise and outliers`(seed: UInt64)
    throws
  {
    let found = try Calibration([MeasuredTrace(lines(seed: seed))], Self.names)
    #expect(found.items.map(\.name) == ["CartView", "cart.added", "cart.cleared"])
    func near(_ cost: Int64?, _ known: Double) -> Bool {
      cost.map { abs(Double($0) / known - 1) <= 0.05 } ?? false
    }
    let view = found.items[0]
    #expect(near(view.base, 2e6) && near(view.element, 3e5) && near(view.appearance, 6e7))
    #expect(near(found.items[1].base, 1e5) && near(found.items[1].element, 2e4))
    #expect(near(found.items[2].base, 4e5))
    for item in found.items {
      #expect(item.count > 300 && item.outliers > item.count / 20, "\(item)")
      // A tenth of the held-out measurements was interrupted.
      #expect((0.01...0.06).contains(item.error.half), "\(item)")
    }
    #expect(found.missing == ["TotalView"])
    #expect(found.constants.measured == 6 && found.constants.all == 9)
    #expect(found.lines[0] == "6 of 9 constants measured, 3 assumed")
  }

  @Test func `a negative measured cost becomes 0`() throws {
    var lines = ["name,microseconds,elements"]
    for number in 0..<50 { lines.append("CartView,\(1_000 - number),\(number)") }
    let found = try Calibration(
      [MeasuredTrace(Array(lines.joined(separator: "\n").utf8))], Self.names)
    #expect(found.items[0].element == 0)
    #expect((960_000...990_000).contains(found.items[0].base))
  }

  private func events(_ events: String...) throws -> [CostMeasurement] {
    let text = #"{"traceEvents":[\#(events.joined(separator: ","))]}"#
    return try MeasuredTrace(Array(text.utf8)).measurements(named: ["outer", "inner"])
  }

  @Test func `the time of a nested slice on the same thread is subtracted from the outer slice`()
    throws
  {
    let outer =
      #"{"ph":"X","pid":1,"tid":1,"name":"outer","ts":10,"dur":100,"args":{"elements":3}}"#
    func inner(_ thread: Int) -> String {
      #"{"ph":"B","pid":1,"tid":\#(thread),"name":"inner","ts":20},{"ph":"E","pid":1,"tid":\#(thread),"name":"inner","ts":50}"#
    }
    #expect(
      try events(outer, inner(1), #"{"ph":"X","pid":1,"tid":1,"name":"unknown","ts":60,"dur":9}"#)
        == [
          CostMeasurement(name: "outer", duration: 70_000, elements: 3),
          CostMeasurement(name: "inner", duration: 30_000),
        ])
    #expect(try events(outer, inner(2)).map(\.duration) == [100_000, 30_000])
  }

  @Test func `the arguments of a measure that Chromium recorded are read from the member detail`()
    throws
  {
    let begin =
      #"{"ph":"b","pid":1,"tid":2,"cat":"blink.user_timing","id2":{"local":"0x16"},"name":"inner","ts":1.5,"#
      + #""args":{"detail":"{\"elements\":4,\"first\":true}"}}"#
    let end =
      #"{"ph":"e","pid":1,"tid":2,"cat":"blink.user_timing","id2":{"local":"0x16"},"name":"inner","ts":4}"#
    #expect(
      try events(begin, end) == [
        CostMeasurement(name: "inner", duration: 2_500, elements: 4, isFirst: true)
      ])
    // An end event without a begin event, which was before the recording.
    #expect(throws: CalibrationProblem("contains no intervals with a name and a duration")) {
      try events(end)
    }
  }

  @Test func `the end event of a slice may omit its name`() throws {
    func event(_ phase: String, _ time: Int, _ name: String? = nil) -> String {
      let name = name.map { #","name":"\#($0)""# } ?? ""
      return #"{"ph":"\#(phase)","pid":1,"tid":1,"ts":\#(time)\#(name)}"#
    }
    let found = try events(
      event("B", 0, "outer"), event("B", 10, "inner"), event("E", 30), event("E", 50),
      // An end event with a name ends the slice of that name, regardless of later slices.
      event("B", 60, "outer"), event("B", 70, "other"), event("E", 90, "outer"), event("E", 95))
    #expect(
      found == [
        CostMeasurement(name: "outer", duration: 30_000),
        CostMeasurement(name: "inner", duration: 20_000),
        CostMeasurement(name: "outer", duration: 30_000),
      ])
  }

  @Test func `a cost per element of a collection is fitted to recorded sizes`() throws {
    var events: [String] = []
    for number in 0..<200 {
      let (rows, others) = (number * 37 % 500, number % 7)
      let time = 1_000 + 2 * rows + (number % 3)
      events.append(
        #"{"ph":"X","pid":1,"tid":1,"name":"CartView","ts":\#(number * 10_000),"dur":\#(time),"#
          + #""args":{"elements":3,"sizes":{"rows":\#(rows),"others":\#(others)}}}"#)
    }
    let found = try Calibration(
      [MeasuredTrace(Array("[\(events.joined(separator: ","))]".utf8))], Self.names)
    let item = try #require(found.items.first)
    #expect((1_950...2_050).contains(item.fields["rows"] ?? 0))
    #expect((0...200).contains(item.fields["others"] ?? -1))
    #expect((990_000...1_010_000).contains(item.base))
    #expect(item.rise == nil)
    let device = Device("phone", slowdown: 2, costs: .init(action: .zero, view: .cost(.zero)))
    let costs = found.applied(to: device.profile).costs
    #expect((975...1_025).contains(costs.views["CartView"]?.fields["rows"] ?? 0))
    #expect(found.lines.contains { $0.contains("more for each element of rows") })
  }

  @Test func `a table of measurements may contain columns of collection sizes`() throws {
    var lines = ["name,microseconds,size:cart.items"]
    for number in 0..<50 { lines.append("cart.added,\(100 + number),\(number)") }
    let found = try Calibration(
      [MeasuredTrace(Array(lines.joined(separator: "\n").utf8))], Self.names)
    #expect((950...1_050).contains(found.items[0].fields["cart.items"] ?? 0))
    #expect(throws: CalibrationProblem.self) {
      try MeasuredTrace(Array("name,seconds,size:rows\nCartView,1,many".utf8))
    }
  }

  @Test func `a cost that rises during the recording is reported as not constant`() throws {
    func found(_ time: (Int) -> Double) throws -> Calibration {
      var lines = ["name,milliseconds,elements"]
      for number in 0..<300 { lines.append("CartView,\(time(number)),20") }
      return try Calibration(
        [MeasuredTrace(Array(lines.joined(separator: "\n").utf8))], Self.names)
    }
    let growing = try found { 1 + 0.05 * Double($0) }
    let rise = try #require(growing.items[0].rise)
    #expect((900_000...1_100_000).contains(rise.from))
    #expect((15_800_000...16_100_000).contains(rise.to))
    let line = try #require(growing.lines.first { $0.hasPrefix("No constant fits") })
    #expect(line.hasPrefix("No constant fits CartView: its cost rises from 1.0 to 15.9 ms"))
    #expect(line.hasSuffix("record its size in 'sizes'."))
    let measured = (0..<300).map {
      CostMeasurement(name: "CartView", duration: 1e6 + 5e4 * Double($0), elements: 20)
    }
    let here = try Calibration(measured, Self.names, observesState: true)
    #expect(here.lines.contains { $0.hasSuffix("No collection of the state grows with the cost.") })
    #expect(growing.json.contains(#""rises":["#))
    #expect(try found { 2 + 0.1 * Double($0 % 5) }.items[0].rise == nil)
  }

  @Test(arguments: [
    ("", "is empty"), ("{", "is not valid JSON: unexpectedEnd at byte 1"),
    ("{}", "is JSON without 'traceEvents'"),
    ("[]", "contains no intervals with a name and a duration"),
    (#"[{"ph":"X","name":"CartView","ts":"1"}]"#, "the event 'CartView' needs a number 'ts'"),
    ("<trace/>", "is XML but lacks the table"), ("\u{A}\u{0}\u{1}", "is a binary file"),
    ("name,hours\n", "(or nanoseconds, microseconds, seconds)"),
    ("name,seconds\nCartView", "line 2 does not match the heading"),
    ("name,seconds\nCartView,-1", "line 2 does not match the heading"),
  ]) func `a calibration rejects a file that is not a trace`(text: String, problem: String) {
    let error = #expect(throws: CalibrationProblem.self) { try MeasuredTrace(Array(text.utf8)) }
    #expect(error?.description.contains(problem) == true, "\(String(describing: error))")
  }

  @Test(arguments: [
    ("CartVew,0.002", "'CartVew' is similar to 'CartView'"),
    ("Quite another,0.002", "such as 'CartView', but for example 'Quite another'"),
    ("CartView,2000", "the median measurement is 2000 s"),
    ("CartView,0.00000001", "the median measurement is 10 ns"),
    ("CartView,0.002", "no view or action was measured at least 10 times"),
  ]) func `a calibration rejects a trace that does not match the screen`(
    line: String, problem: String
  ) throws {
    let trace = try MeasuredTrace(Array("name,seconds\n\(line)\n".utf8))
    let error = #expect(throws: CalibrationProblem.self) {
      try Calibration([trace], Self.names)
    }
    #expect(error?.description.contains(problem) == true, "\(String(describing: error))")
  }

  @Test func `a name that is probably misspelled is reported even if other names match`() throws {
    var text = "name,milliseconds\n"
    for _ in 0..<20 { text += "CartView,2\nTotalVew,3\nSomething else,4\n" }
    let calibration = try Calibration([MeasuredTrace(Array(text.utf8))], Self.names)
    let told = calibration.lines.filter { $0.hasPrefix("The screen has no") }
    #expect(told == ["The screen has no 'TotalVew'; did you mean 'TotalView'?"])
  }

  @Test func `the text report shortens a long list of names without measurements`() throws {
    let names = Calibration.Names(
      views: ["CartView"], actions: (1...15 as ClosedRange<Int>).map { "action\($0)" })
    let text = "name,milliseconds\n" + String(repeating: "CartView,2\n", count: 20)
    let calibration = try Calibration([MeasuredTrace(Array(text.utf8))], names)
    #expect(calibration.missing.count == 15)
    #expect(
      calibration.lines.contains {
        $0.hasSuffix("action11, action12 and 3 more (see the JSON report)")
      })
  }

  @Test func `a calibration with the trace of a simulation recovers its costs`() async throws {
    let plan = SaleScenario.plan(seed: 3)
    let names = try plan.names()
    let trace = try #require(try await plan.run(wantsTrace: true).trace)
    let found = try Calibration([MeasuredTrace(Array(trace.utf8))], names)
    #expect(names.views.contains("BasketView") && names.actions.contains("offers.sold"))
    #expect(found.items.contains { $0.name == "BasketView" })
    #expect(found.items.contains { $0.name == "offers.sold" && $0.base > 0 })
  }

  @Test func `measured costs replace a device's costs, divided by its slowdown`() throws {
    let found = try Calibration([MeasuredTrace(lines(seed: 1))], Self.names)
    let device = Device(
      "slow", slowdown: 2,
      costs: DeviceProfile.Costs(
        action: .milliseconds(9), view: .cost(.milliseconds(7), appearance: .milliseconds(8))))
    let costs = found.applied(to: device.profile).costs
    #expect(costs.views["CartView"]?.evaluation == found.items[0].base / 2)
    #expect(costs.actions["cart.cleared"] == found.items[2].base / 2)
    #expect(costs.views["TotalView"] == nil && costs.action == 9_000_000)
  }
}

/// Traces in the formats of Instruments and Android.
struct ForeignTraceTests {
  /// Returns a table in the format of `xctrace export`. Repeated values are references, even to
  /// values nested within a cell.
  private func signposts(_ rows: String, schema: String = "os-signpost-interval") -> [UInt8] {
    let columns = [
      "start", "duration", "layout-qualifier", "name", "start-thread", "start-message",
    ]
    .map { "<col><mnemonic>\($0)</mnemonic><name>\($0)</name></col>" }.joined()
    return Array(
      """
      <?xml version="1.0"?>
      <trace-query-result><!-- a comment -->
      <node xpath='//trace-toc[1]/run[1]/data[1]/table[5]'><schema name="\(schema)">\(columns)</schema>
      \(rows)
      </node></trace-query-result>
      """.utf8)
  }

  private let rows = """
    <row><start-time id="1" fmt="00:01.000">1000000</start-time><duration id="2" fmt="9 ms">9000000</duration>\
    <layout-id id="3">0</layout-id><string id="4" fmt="Outer &amp; all">Outer &amp; all</string>\
    <thread id="5" fmt="Main Thread 0x1"><tid id="6" fmt="0x1">1</tid></thread>\
    <os-log-metadata id="7" fmt="elements=3 first=true"/></row>
    <row><start-time id="8">2000000</start-time><duration id="9">4000000</duration><layout-id ref="3"/>\
    <string id="10" fmt="inner">inner</string><thread ref="5"/><os-log-metadata id="11" fmt="elements: 7"/></row>
    <row><start-time id="12">20000000</start-time><duration ref="9"/><layout-id ref="3"/><string ref="4"/>\
    <thread ref="5"/><sentinel/></row>
    """

  @Test func `signposts of Instruments are read with the arguments in their messages`() throws {
    let found = try MeasuredTrace(signposts(rows)).measurements(named: ["Outer & all", "inner"])
    #expect(
      found == [
        // Excludes the nested interval on the same thread.
        CostMeasurement(name: "Outer & all", duration: 5_000_000, elements: 3, isFirst: true),
        CostMeasurement(name: "inner", duration: 4_000_000, elements: 7),
        CostMeasurement(name: "Outer & all", duration: 4_000_000),
      ])
  }

  @Test(arguments: [
    ("<row>", "has no matching start tag"),
    ("<row><a></b></row>", "</b> has no matching start tag"),
    ("<row a=1/>", "without quotes"), ("<row a/>", "without a value"),
    ("<!DOCTYPE x>", "declaration"),
    ("<row", "without a value"), ("< >", "without a name"),
    (
      "<row><start-time>soon</start-time><duration>1</duration><layout-id/><string>inner</string></row>",
      "the interval 'inner' needs a start and a duration"
    ),
  ])
  func `a malformed table of measurements is rejected`(rows: String, problem: String) {
    let error = #expect(throws: CalibrationProblem.self) { try MeasuredTrace(signposts(rows)) }
    #expect(error?.description.contains(problem) == true, "\(String(describing: error))")
  }

  @Test
  func `an unsuitable Instruments table is rejected with the command to export the right one`() {
    let error = #expect(throws: CalibrationProblem.self) {
      try MeasuredTrace(signposts(rows, schema: "time-profile"))
    }
    #expect(error?.description.contains("xctrace export --xpath") == true)
    let deep = #expect(throws: CalibrationProblem.self) {
      try MeasuredTrace(Array(String(repeating: "<a>", count: 1_000).utf8))
    }
    #expect(deep?.description.contains("nested too deeply") == true)
  }

  /// Returns an expected or actual frame in Perfetto's JSON: asynchronous, with a number as its
  /// name.
  private func frame(_ number: Int, _ length: Double, jank: String?) -> String {
    let start = Double(number) * 16_667
    let arguments =
      #""Surface frame token":\#(number),"Display frame token":\#(number + 1)"#
      + (jank.map { #","Jank type":"\#($0)""# } ?? "")
    let same =
      #""pid":9,"cat":"android","id2":{"local":"\#(number)-\#(jank ?? "")"},"name":"\#(number)""#
    return #"{"ph":"b",\#(same),"ts":\#(start),"args":{\#(arguments)}},"#
      + #"{"ph":"e",\#(same),"ts":\#(start + length)}"#
  }

  @Test func `FrameTimeline frames are counted in addition to sections that name views`() throws {
    var events: [String] = []
    for number in 1...20 {
      events.append(frame(number, 16_667, jank: nil))
      events.append(
        frame(
          number, number == 7 ? 312_000 : 12_000, jank: number == 7 ? "App Deadline Missed" : "None"
        ))
      let start = number * 16_667
      events.append(#"{"ph":"B","pid":9,"tid":9,"name":"CartView","ts":\#(start)}"#)
      events.append(#"{"ph":"E","pid":9,"tid":9,"name":"CartView","ts":\#(start + 4_000)}"#)
    }
    let text = "[\(events.joined(separator: ","))]"
    let found = try Calibration(
      [MeasuredTrace(Array(text.utf8))],
      Calibration.Names(views: ["CartView"], actions: ["cart.added"]))
    #expect(found.items.first?.base == 4_000_000)
    #expect(found.frames.first?.count == 20 && found.frames.first?.janky == 1)
    #expect(
      found.lines.last
        == "FrameTimeline: 20 frames at 60 a second, 1 of them janky, the longest 312.0 ms")
    let alone = "[\(frame(1, 16_667, jank: "None"))]"
    let error = #expect(throws: CalibrationProblem.self) { try MeasuredTrace(Array(alone.utf8)) }
    #expect(error?.description.contains("Trace.beginSection") == true)
  }
}

/// `calibrate --here`, with a clock that advances by a microsecond for each reading.
struct LocalCalibrationTests {
  private final class Steps {
    private var time: UInt64 = 0
    func next() -> UInt64 {
      time += 1_000
      return time
    }
  }

  @Test
  func `calibrating on this machine measures a screen and compares the costs with another run`()
    throws
  {
    let clock = Steps()
    var plan = SaleScenario.plan(seed: 3)
    let found = try plan.calibratedHere(now: clock.next)
    let basket = try #require(found.calibration.items.first { $0.name == "BasketView" })
    // The time between two readings of the clock, regardless of the work.
    #expect(basket.base == 1_000 && (basket.element ?? 0) == 0)
    let sold = try #require(found.calibration.items.first { $0.name == "offers.sold" })
    #expect(sold.base == 1_000 && sold.outliers == 0)
    #expect(found.frames.count > 100)
    // The clock is read twice for each action and evaluation, and once for the turn.
    #expect(found.frames.allSatisfy { $0.measured > $0.simulated })
    #expect(found.correlation > 0.9)
    plan.seed = 4
    #expect(try plan.calibratedHere(now: Steps().next).frames != found.frames)
    #expect(try SaleScenario.plan(seed: 3).calibratedHere(now: Steps().next).json == found.json)
  }

  @Test func `the scatter plot of a calibration has one point for each distinct frame`() throws {
    let found = try SaleScenario.plan(seed: 3).calibratedHere(now: Steps().next)
    let points = found.scatter.split(separator: "\n").count { $0.hasPrefix("<circle") }
    #expect((1...found.frames.count).contains(points))
    #expect(found.scatter.hasPrefix("<svg") && found.scatter.hasSuffix("</svg>\n"))
    #expect(!found.scatter.contains("nan") && !found.scatter.contains("-inf"))
  }
}
