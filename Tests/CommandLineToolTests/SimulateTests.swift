import CommandLineTool
import JSON
import TestSupport
import Testing

@Suite struct SimulateTests {
  private static let device = """
    refreshRate: 60
    costs: {action: 1ms, view: 2ms, viewElement: 100us, appearance: 200ms}
    """
  private static let scenario = """
    name: small
    seed: 5
    duration: 5s
    devices: [one]
    events:
      - {generate: chat.message, rate: 20/s}
    variants:
      tracked: {host.children: tracked}
      ignored: {host.children: ignored}
    """

  private let directory: TemporaryDirectory
  private let path: String

  init() throws {
    directory = TemporaryDirectory()
    // The device file has the same path relative to the scenario as in a checkout.
    try directory.makeDirectory("devices")
    _ = directory.write("devices/one.yaml", Self.device.utf8)
    path = directory.write("small.yaml", Self.scenario.utf8)
  }

  @Test func `a simulation report is text or JSON, and equal seeds give equal digests`()
    async throws
  {
    let text = await run(["simulate", path, "--local"])
    #expect(text.status == .done)
    #expect(text.output.contains("microhangs"))
    #expect(text.output.contains("tracked  ignored"))
    let first = await run(["simulate", path, "--local", "--json=short"])
    let second = await run(["simulate", "--json=short", "--local", "--check-determinism", path])
    #expect(first.output == second.output)
    #expect(second.diagnostics.contains("two runs agree"))
    let report = try JSONValue(parsing: first.output)
    #expect(report["seed"] == 5)
    #expect(report["runs"]?.arrayValue?.count == 2)
    let other = await run(["simulate", path, "--local", "--json=short", "--seed", "6"])
    #expect(try JSONValue(parsing: other.output)["digest"] != report["digest"])
  }

  @Test func `unmet thresholds give exit code 99 and are listed after the report`()
    async throws
  {
    let result = await perform([
      "simulate", path, "--local", "--json=short", "--threshold", "hangs == 0", "--threshold",
      "frames < 3",
    ])
    #expect(result.status == .thresholdsNotMet)
    #expect(result.diagnostics.contains("✗ frames < 3: "))
    let report = try JSONValue(parsing: result.output)
    #expect(report["thresholds"]?.arrayValue?.count == 2)
    #expect(report["thresholds"]?.arrayValue?.last?["passed"] == false)
  }

  @Test func `an invalid scenario gives exit code 78 and the location of the error`() async throws {
    let bad = directory.write("bad.yaml", Self.scenario.replacing("seed:", with: "sed:").utf8)
    let result = await perform(["simulate", bad, "--local", "--json=short"])
    #expect(result.status == .configuration)
    #expect(result.diagnostics == "livehostctl: \(bad):2: sed: unknown key; did you mean 'seed'?\n")
    let error = try JSONValue(parsing: result.output)["error"]
    #expect(error?["exitCode"] == 78)
    #expect(error?["line"] == 2)
    #expect(error?["key"] == "sed")
    let none = await perform(["simulate", "\(bad).none", "--local"])
    #expect(none.status == .configuration)
    #expect(
      none.diagnostics == "livehostctl: \(bad).none: cannot be read: No such file or directory\n")
    let folder = await perform(["simulate", directory.path, "--local"])
    #expect(folder.diagnostics.contains("cannot be read: Is a directory"))
  }

  @Test func `without a daemon, the error of simulate suggests --local`() async {
    let result = await run(["simulate", path, "--socket", "\(directory.path)/nobody"])
    #expect(result.status == .notReachable)
    #expect(result.diagnostics.contains("--local simulates without the daemon"))
  }

  @Test func `for an unknown variant of a report, the error suggests the similar one`() async {
    let report = await perform(["simulate", path, "--local", "--json=short"]).output
    let file = directory.write("report.json", report.utf8)
    let result = await perform(["compare", "\(file):trackd", file])
    #expect(result.status == .badData)
    #expect(result.diagnostics.contains("no run of the variant 'trackd'; did you mean 'tracked'?"))
    let none = await perform(["compare", "\(file).none", file])
    #expect(none.diagnostics.contains("cannot be read: No such file or directory"))
  }

  @Test func `an invalid option of simulate gives exit code 64`() async {
    for arguments in [
      ["--set", "sed=1"], ["--device", "none"], ["--variant", "none"], ["--threshold", "none"],
      ["--seed", "x"],
    ] {
      let result = await perform(["simulate", path, "--local"] + arguments)
      #expect(result.status == .usage, "\(arguments)")
    }
  }

  @Test func `simulate writes its trace and page to files`() async throws {
    let trace = "\(directory.path)/trace.json"
    let page = "\(directory.path)/page.html"
    let result = await perform(["simulate", path, "--local", "--trace", trace, "--html", page])
    #expect(result.status == .done)
    #expect(try JSONValue(parsing: directory.removeFile("trace.json"))["traceEvents"] != nil)
    #expect(directory.removeFile("page.html").contains("<svg"))
    let refused = await perform(["simulate", path, "--local", "--html", "/nowhere/page.html"])
    #expect(refused.status == .failed)
  }

  @Test func `compare shows two reports or two variants side by side`() async throws {
    let report = await run(["simulate", path, "--local", "--json=short"])
    let file = directory.write("report.json", report.output.utf8)
    let variants = await run(["compare", "\(file):tracked", "\(file):ignored"])
    #expect(variants.status == .done)
    #expect(variants.output.contains("HostView evaluations"))
    #expect(variants.output.contains("change"))
    let same = await perform(["compare", file, file, "--json=short"])
    #expect(try JSONValue(parsing: same.output).arrayValue?.count == 2)
    #expect(await perform(["compare", file, "\(file):none"]).status == .badData)
    #expect(await perform(["compare", path, file]).status == .badData)
  }

  // MARK: Seeds

  @Test func `the report of a sweep is complete and does not depend on the number of workers`()
    async throws
  {
    let arguments = ["sweep", path, "--seeds", "6", "--json=short", "--threshold"]
    let one = await run(arguments + ["p50(frames) > 3", "--workers", "1"])
    #expect(one.status == .done)
    let four = await run(arguments + ["p50(frames) > 3", "--workers", "4"])
    #expect(four.output == one.output)
    let report = try JSONValue(parsing: one.output)
    #expect(report["seeds"] == [1, 2, 3, 4, 5, 6])
    #expect(report["thresholds"]?.arrayValue?.first?["passed"] == true)
    let frames = report["runs"]?.arrayValue?.last?["metrics"]?["frames"]
    #expect(report["runs"]?.arrayValue?.count == 2 && frames?["worstSeed"] != nil)
    let failed = await run(arguments + ["frames < 3 for ignored"])
    #expect(failed.status == .thresholdsNotMet)
    let failure = try JSONValue(parsing: failed.output)["thresholds"]?.arrayValue?.first
    #expect(failure?["failures"] == ["one, ignored"])
    let run = failure?["failedRuns"]?.arrayValue?.first
    #expect(run?["failedSeeds"] == 6 && run?["seeds"] == 6 && run?["seed"] != nil)
  }

  @Test func `a sweep can write a page, but a search cannot`() async throws {
    let page = "\(directory.path)/sweep.html"
    #expect(await run(["sweep", path, "--seeds", "3", "--html", page]).status == .done)
    #expect(directory.removeFile("sweep.html").contains("3 seeds from 1 to 3"))
    let search = ["sweep", path, "--find", "device.slowdown", "--where", "hangs > 0"]
    #expect(await run(search + ["--html", page]).status == .usage)
    #expect(await run(["sweep", path, "--seeds", "1", "--html", "/nowhere/x"]).status == .failed)
  }

  @Test func `each seed of a sweep gives the same result as a single simulation with this seed`()
    async throws
  {
    var found: Set<String> = []
    for seed in 1...6 {
      let one = await run(["simulate", path, "--local", "--json=short", "--seed", "\(seed)"])
      let report = try JSONValue(parsing: one.output)
      let swept = await run([
        "sweep", path, "--seeds", "1", "--first-seed", "\(seed)", "--json=short",
      ])
      #expect(try JSONValue(parsing: swept.output)["digest"] == report["digest"])
      found.insert(report["digest"]?.stringValue ?? "")
    }
    #expect(found.count == 6)
  }

  @Test func `variants are compared seed by seed`() async throws {
    let text = await run(["compare", path, "--seeds", "8"])
    #expect(text.status == .done)
    #expect(text.output.contains("more than noise"))
    #expect(text.output.contains("change  by chance"))
    #expect(text.output.contains("no difference"))
    let json = await run(["compare", path, "--seeds", "8", "--json=short"])
    let differences = try JSONValue(parsing: json.output)["differences"]?.arrayValue
    #expect(differences?.first?["variants"] == ["tracked", "ignored"])
    let alone = await run(["compare", path, "--seeds", "8", "--variant", "tracked"])
    #expect(alone.status == .usage && alone.diagnostics.contains("only one variant"))
    for arguments in [
      [path], [path, path, "--seeds", "8"], [path, path, "--junit", "x"],
      [path, path, "--set", "load=2"],
    ] {
      #expect(await run(["compare"] + arguments).status == .usage, "\(arguments)")
    }
  }

  @Test
  func `measured costs are shown next to assumed costs and do not change the assumed result`()
    async throws
  {
    let arguments = ["--costs", "measured", "--threshold", "longest > 100ms"]
    let assumed = await run(["simulate", path, "--local", "--json=short"])
    let simulated = await run(["simulate", path, "--local", "--repeats", "2"] + arguments)
    #expect(simulated.status == .done, "\(simulated.diagnostics)")
    #expect(simulated.output.contains(#/tracked, assumed +measured, 2 times/#))
    let json = try JSONValue(
      parsing: await run(["simulate", path, "--local", "--json=short"] + arguments).output)
    #expect(json["measured"]?.arrayValue?.map { $0["repeats"] } == [5, 5])
    #expect(try json["digest"] == JSONValue(parsing: assumed.output)["digest"])
    let swept = await run(["sweep", path, "--seeds", "2", "--costs=measured"])
    #expect(swept.status == .done && swept.output.contains("measured: median (minimum to maximum)"))
  }

  @Test func `if measured costs cannot be used, the error names the remedy`() async {
    let search = ["sweep", path, "--find", "load", "--where", "hangs > 0"]
    for (arguments, problem) in [
      (["simulate", path], "add --local"),
      (["simulate", path, "--local", "--check-determinism"], "remove --check-determinism"),
      (search, "--find searches with assumed costs"),
      (["compare", path, path], "use --costs with simulate or sweep"),
      (["compare", path, "--seeds", "8"], "use --costs with simulate or sweep"),
    ] {
      let result = await run(arguments + ["--costs", "measured"])
      #expect(result.status == .usage, "\(arguments)")
      #expect(result.diagnostics.contains(problem), "\(result.diagnostics)")
    }
    let alone = await run(["simulate", path, "--local", "--repeats", "3"])
    #expect(
      alone.status == .usage && alone.diagnostics.contains("--repeats needs --costs measured"))
    let none = await run(["simulate", path, "--local", "--costs=measured", "--repeats", "0"])
    #expect(none.status == .usage && none.diagnostics.contains("--repeats must be from 1 to 1000"))
    #expect(await !run(["compare", "--help"]).output.contains("--costs"))
  }

  @Test func `a search finds the slowdown at which a screen hangs`() async throws {
    let arguments = ["sweep", path, "--variant", "tracked", "--find", "device.slowdown"]
    let condition = ["--where", "hangs > 0 without appearance"]
    let found = await run(arguments + condition + ["--json=short"])
    #expect(found.status == .done)
    let slowdown = try JSONValue(parsing: found.output)["slowdowns"]?.arrayValue?.first
    #expect(slowdown?["holdsFrom"] != nil && slowdown?["holdsNotAt"] != nil)
    let never = await run(arguments + condition + ["--up-to", "1"])
    #expect(
      never.output.contains("one, tracked: hangs > 0 without appearance is not true up to 1 x"))
    let already = await run(arguments + ["--where", "hangs > 0"])
    #expect(already.output.contains("one, tracked: hangs > 0 is already true at 1 x"))
    #expect(await run(arguments).status == .usage)
    #expect(await run(arguments + ["--where", "hags > 0"]).status == .usage)
    let misspelled = await run(arguments + ["--where", "view(HostVew).mean > 3ms"])
    #expect(misspelled.status == .configuration)
    #expect(misspelled.diagnostics.contains("did you mean 'HostView'?"))
    let other = await run(arguments + ["--where", "hangs > 0 for traked"])
    #expect(other.diagnostics.contains("there is no variant or device 'traked'"))
    let useless = await run(arguments + condition + ["--junit", "\(directory.path)/junit.xml"])
    #expect(useless.status == .usage && useless.diagnostics.contains("remove --junit"))
    let limited = await run(["sweep", path, "--seeds", "2", "--up-to", "3"])
    #expect(limited.status == .usage && limited.diagnostics.contains("--up-to needs --find"))
  }

  @Test func `a report is compared with an earlier one by thresholds`() async throws {
    let base = directory.write(
      "base.json", await run(["simulate", path, "--local", "--json=short"]).output.utf8)
    let head = directory.write(
      "head.json",
      await run(["simulate", path, "--local", "--json=short", "--set", "costs.view=9ms"]).output
        .utf8)
    let gate = ["--threshold", "view(HostView).mean <= base * 1.1"]
    let met = await run(["compare", base, base] + gate)
    #expect(met.status == .done && met.output.hasPrefix("The threshold is met\n"))
    let missed = await run(
      ["compare", base, head, "--junit", "\(directory.path)/gate.xml"] + gate)
    #expect(missed.status == .thresholdsNotMet)
    #expect(missed.output.contains("ms in one, tracked, and "))
    #expect(directory.removeFile("gate.xml").contains(#"tests="1" failures="1" skipped="0""#))
    let json = try JSONValue(
      parsing: await run(["compare", base, head, "--json=short"] + gate).output)
    #expect(json["runs"]?.arrayValue?.count == 2)
    #expect(json["thresholds"]?.arrayValue?.first?["passed"] == false)
    #expect(await run(["compare", base, head, "--threshold", "hags <= base"]).status == .usage)
  }

  @Test
  func
    `a threshold of an unselected variant is skipped, and one of a misspelled variant is refused`()
    async throws
  {
    let arguments = ["simulate", path, "--local", "--variant", "tracked", "--threshold"]
    let skipped = await run(
      arguments + ["hangs == 0 for ignored", "--junit", "\(directory.path)/skipped.xml"])
    #expect(skipped.status == .done)
    #expect(skipped.output.hasPrefix("No threshold was checked: 1 skipped\n  - hangs == 0"))
    #expect(
      directory.removeFile("skipped.xml")
        .contains(#"<skipped message="no run of ignored was selected"/>"#))
    let misspelled = await run(arguments + ["hangs == 0 for ignord"])
    #expect(misspelled.status == .usage)
    #expect(misspelled.diagnostics.contains("there is no variant or device 'ignord'"))
  }

  @Test func `a threshold without anything to check is not met`() async {
    for threshold in ["view(PollView).evaluations == 0", "effect(surface).answered.p95 < 1s"] {
      let result = await run(["simulate", path, "--local", "--threshold", threshold])
      #expect(result.status == .thresholdsNotMet, "\(threshold)")
      #expect(result.output.contains("✗ \(threshold): nothing to check ("))
    }
  }

  @Test func `only one file may be written to standard output, and none together with JSON`() async
  {
    let arguments = ["simulate", path, "--local", "--markdown", "-"]
    #expect(await run(arguments + ["--junit", "-"]).status == .usage)
    #expect(await run(arguments + ["--json=short"]).status == .usage)
  }

  @Test func `a search finds the load at which a screen hangs`() async throws {
    let found = await run([
      "sweep", path, "--variant", "tracked", "--find", "load", "--where", "busy > 32%",
      "--json=short",
    ])
    #expect(found.status == .done, "\(found.diagnostics)")
    let load = try JSONValue(parsing: found.output)["loads"]?.arrayValue?.first
    #expect(load?["holdsFrom"] != nil && load?["variant"] == "tracked")
  }

  @Test func `a missing report file is an error`() async {
    let report = await run(["compare", "\(directory.path)/a.json", "\(directory.path)/b.json"])
    #expect(report.status == .badData)
    #expect(report.diagnostics.contains("cannot be read: No such file or directory"))
  }

  @Test func `a threshold that begins after the end of the simulation is refused`() async {
    let late = await run(["simulate", path, "--local", "--threshold", "hangs == 0 after 1h"])
    #expect(late.status == .usage && late.diagnostics.contains("'after' excludes the whole"))
  }

  @Test
  func `thresholds are tests in JUnit and rows in Markdown, for one seed and for a sweep`()
    async throws
  {
    for verb in [["simulate", path, "--local"], ["sweep", path, "--seeds", "2"]] {
      let result = await run(
        verb + [
          "--threshold", "frames < 3", "--threshold", "hangs >= 0", "--junit",
          "\(directory.path)/junit.xml", "--markdown", "\(directory.path)/report.md",
        ])
      #expect(result.status == .thresholdsNotMet)
      #expect(result.output.hasPrefix("1 of 2 thresholds not met\n  ✗ frames < 3: "))
      let junit = directory.removeFile("junit.xml")
      #expect(junit.contains(#"<testsuite name="small" tests="2" failures="1" skipped="0">"#))
      #expect(junit.contains(#"<testcase classname="small" name="frames &lt; 3">"#))
      #expect(junit.contains(#"<testcase classname="small" name="hangs &gt;= 0"/>"#))
      let markdown = directory.removeFile("report.md")
      #expect(markdown.hasPrefix("## small\n\n**1 of 2 thresholds not met**\n"))
      #expect(markdown.contains("| ✗ | `frames < 3` |"))
    }
  }

  @Test func `the verdict of a simulation is coloured only on a terminal`() async {
    let arguments = ["simulate", path, "--local", "--threshold", "frames < 3"]
    let terminal = await run(arguments, isTerminal: true)
    #expect(terminal.output.hasPrefix("\u{1B}[1;31m1 of 1 threshold not met\u{1B}[0m\n"))
    #expect(terminal.diagnostics.hasSuffix("livehostctl: a threshold is not met\n"))
    #expect(await !run(arguments).output.contains("\u{1B}"))
  }

  private func perform(_ arguments: [String]) async -> Run { await run(arguments) }
}
