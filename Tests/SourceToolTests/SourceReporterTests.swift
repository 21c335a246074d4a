import LiveEvents
import LiveSources
import SourceTool
import Testing

struct SourceReporterTests {
  private static let progress = {
    var progress = SourceProgress()
    progress.state = .live
    (progress.received, progress.delivered, progress.waiting) = (1_200, 1_100, 100)
    (progress.duplicates, progress.gaps, progress.gapMilliseconds) = (3, 2, 3_400)
    progress.hasDaemon = true
    return progress
  }()

  @Test func `the JSON output of each report keeps its format`() {
    #expect(
      SourceReporter.json(.status(channel: "ada", .connecting, reason: "no sign of life"))
        == #"{"report":"state","channel":"ada","state":"connecting","reason":"no sign of life"}"#
        + "\n")
    #expect(
      SourceReporter.json(.status(channel: "ada", .live, reason: nil))
        == #"{"report":"state","channel":"ada","state":"live"}"# + "\n")
    #expect(
      SourceReporter.json(
        .gap(channel: "ada", SourceGap(from: 1_000, to: 4_400, reason: "a \"cut\"")))
        == #"{"report":"gap","channel":"ada","from":1000,"to":4400,"reason":"a \"cut\""}"# + "\n")
    #expect(
      SourceReporter.json(.progress(Self.progress))
        == #"{"report":"progress","state":"live","received":1200,"delivered":1100,"#
        + #""waiting":100,"duplicate":3,"refused":0,"gaps":2,"gapMs":3400,"daemon":true}"# + "\n")
  }

  @Test func `a terminal shows counts of problems only if there are problems`() {
    #expect(
      SourceReporter.line(Self.progress)
        == "live  1,200 lines  1,100 delivered  100 waiting  3 duplicates  2 gaps of 3.4 s")
    var progress = SourceProgress()
    progress.hasDaemon = true
    #expect(SourceReporter.line(progress) == "connecting  0 lines  0 delivered")
    progress.refused = 12
    #expect(SourceReporter.line(progress) == "connecting  0 lines  0 delivered  12 refused")
    (progress.refused, progress.hasDaemon) = (0, false)
    #expect(
      SourceReporter.line(progress)
        == "connecting  0 lines  0 delivered  livehostd unreachable")
  }
}
