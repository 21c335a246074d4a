import CommandLineTool
import ControlInterface
import ControlTestSupport
import JSON
import TerminalScreen
import Testing
import Wording

@Suite struct ProgressBarTests {
  private func progress(
    _ bytes: Int, of size: Int?, lines: Int = 2_100, after seconds: Int64 = 3
  ) -> PlaybackProgress {
    PlaybackProgress(
      fileBytes: bytes, fileSize: size, lines: lines, confirmed: 2_000,
      elapsedNanoseconds: seconds * 1_000_000_000)
  }

  @Test func `the progress of input of known size has a bar, a rate and the remaining time`() {
    #expect(
      ProgressBar.line(progress(250, of: 1_000), columns: 79)
        == "[######--------------------] 25%  2,100 lines  700/s  2,000 confirmed  9 s left")
  }

  @Test func `the progress of input of unknown size has neither a bar nor a remaining time`() {
    #expect(
      ProgressBar.line(progress(2_048, of: nil), columns: 79)
        == "2,100 lines  700/s  2,000 confirmed  2.0 KiB")
  }

  @Test func `a progress line shows no rate until the rate is known`() {
    #expect(
      ProgressBar.line(progress(0, of: 10, lines: 0, after: 0), columns: 60)
        == "[-----------------------------] 0%  0 lines  2,000 confirmed")
  }

  @Test(arguments: 1...120)
  func `a progress bar is never wider than the requested number of columns`(columns: Int) {
    let line = ProgressBar.line(progress(999, of: 1_000), columns: columns)
    #expect(TerminalText.width(line) <= columns)
  }

  @Test func `the progress of an empty file is complete`() {
    #expect(progress(0, of: 0).fraction == 1)
  }
  @Test func `the progress of a file that has grown is limited to 1`() {
    #expect(progress(3, of: 2).fraction == 1)
  }
}

@Suite struct PercentBarTests {
  @Test func `a progress line shows the rate and the remaining time once they are known`() {
    #expect(
      PercentBar.line(25, elapsed: 5, columns: 79)
        == "[#######-----------------------] 25%  5.0%/s  15 s left")
    #expect(PercentBar.line(0, elapsed: 5, columns: 20) == "[---------------] 0%")
    #expect(PercentBar.line(250, elapsed: 0, columns: 60).hasSuffix("] 100%"))
  }

  @Test(arguments: 1...80)
  func `a percent bar is never wider than the requested number of columns`(columns: Int) {
    let line = PercentBar.line(33, elapsed: 100, columns: columns)
    #expect(TerminalText.width(line) <= columns)
  }
}

@Suite struct FormatTests {
  @Test(arguments: [(0, "0"), (999, "999"), (1_000, "1,000"), (-12_345_678, "-12,345,678")])
  func `digits of counts are grouped by thousands`(number: Int, text: String) {
    #expect(Format.count(number) == text)
  }

  @Test(arguments: [
    (0.0, "0.0"), (9.96, "10.0"), (99.94, "99.9"), (99.96, "100"),
    (1e300, "9,223,372,036,854,775,807"), (-0.04, "0.0"), (-1.26, "-1.3"), (.nan, "-"),
  ])
  func `small rates have a decimal`(number: Double, text: String) {
    #expect(Format.rate(number) == text)
  }

  @Test(arguments: [(0, "0 B"), (1_023, "1023 B"), (1_536, "1.5 KiB"), (3 << 30, "3.0 GiB")])
  func `byte counts are printed with units`(number: Int, text: String) {
    #expect(Format.bytes(number) == text)
  }

  @Test(arguments: [(7, "7 s"), (252, "4:12"), (3_723, "1:02:03"), (90_061, "1 d 1:01:01")])
  func `durations are printed in a short readable form`(seconds: Int, text: String) {
    #expect(Format.duration(seconds: seconds) == text)
  }
}

@Suite struct JSONModeTests {
  @Test func `indented JSON output parses to the same value`() throws {
    let value: JSONValue = ["b": [1, [:]], "a": [:], "c": [], "d": .null]
    let text = String(decoding: try #require(JSONMode.pretty.text(value)), as: UTF8.self)
    #expect(
      text == "{\n  \"a\": {},\n  \"b\": [\n    1,\n    {}\n  ],\n  \"c\": [],\n  \"d\": null\n}\n")
    #expect(try JSONValue(parsing: text) == value)
    #expect(JSONMode.off.text(value) == nil)
  }
}

@Suite struct DemoSummaryTests {
  private func part(_ change: (inout RoomReport) -> Void = { _ in }, lines: Int = 9)
    -> DemoSummary.PlayedRoom
  {
    var room = FakeService.room
    change(&room)
    return DemoSummary.PlayedRoom(source: "x.gz", lines: lines, room: room)
  }

  @Test
  func `the demo's summary lists the recorded room first, then the room of the simulated host`()
    throws
  {
    let summary = DemoSummary(recorded: [part()], simulated: part { $0.room = "other" })
    let lines = summary.lines
    #expect(lines.first == "Recording: room main, from x.gz")
    #expect(lines.contains("Simulated host: room other, from x.gz"))
    #expect(lines.contains("  busiest second of chat  5 by the clock, 6 sliding"))
    #expect(lines.contains("    HostView              3"))
    #expect(try summary.json()["recorded"]?.arrayValue?.first?["room"]?["room"] == "main")
    #expect(try summary.json()["conserved"] == true)
  }

  @Test func `the demo's summary reports BROKEN if an event is pending, lost or counted twice`() {
    #expect(part().isConserved)
    #expect(!part { $0.counters.applied += 1 }.isConserved)
    #expect(!part { $0.counters.pending = 1 }.isConserved)
    #expect(!part(lines: 10).isConserved)
    let summary = DemoSummary(recorded: [part()], simulated: part(lines: 8))
    #expect(!summary.isConserved)
    #expect(summary.lines.contains { $0.hasSuffix("BROKEN") })
  }
}
