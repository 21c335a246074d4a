import Gateway
import RateLimiting
import Testing

@Suite struct ProblemTests {
  @Test func `a lasting problem is logged once when it begins and once when it ends`() {
    var journal = ProblemJournal()
    var lines: [[String]] = []
    for (tick, seconds) in [0, 1, 2, 3].enumerated() {
      let problem = Problem("log", "waits for \(seconds) s")
      lines.append(journal.update([problem], at: .origin + .seconds(Int64(tick))))
    }
    lines.append(journal.update([], at: .origin + .seconds(4)))
    lines.append(journal.update([], at: .origin + .seconds(5)))
    #expect(lines == [[], ["problem: waits for 1 s"], [], [], ["over: waits for 1 s"], []])
  }

  @Test func `a problem that ends immediately is not logged`() {
    var journal = ProblemJournal()
    #expect(journal.update([Problem("daemon", "gone")], at: .origin).isEmpty)
    #expect(journal.update([], at: .origin + .milliseconds(900)).isEmpty)
    // The problem is logged only after it has lasted for the full time again.
    #expect(journal.update([Problem("daemon", "gone")], at: .origin + .milliseconds(1_100)).isEmpty)
  }

  @Test func `each problem is logged separately`() {
    var journal = ProblemJournal()
    let two = [Problem("a", "first"), Problem("b", "second")]
    _ = journal.update(two, at: .origin)
    #expect(
      journal.update(two, at: .origin + .seconds(1)) == ["problem: first", "problem: second"])
    #expect(journal.update([two[1]], at: .origin + .seconds(2)) == ["over: first"])
  }
}
