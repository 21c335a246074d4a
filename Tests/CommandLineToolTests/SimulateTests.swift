import CommandLineTool
import JSON
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

  private let directory: TestDirectory
  private let path: String

  init() throws {
    directory = try TestDirectory()
    // Beside the scenario, as `devices` is beside `scenarios` in a checkout.
    try directory.makeDirectory("devices")
    _ = directory.write("devices/one.yaml", Self.device.utf8)
    path = directory.write("small.yaml", Self.scenario.utf8)
  }

  @Test func `a report is text or JSON, with the same seed and digest each time`() async throws {
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

  @Test func `thresholds that are not met give exit code 99 and a list after the whole report`()
    async throws
  {
    let result = await perform([
      "simulate", path, "--local", "--json=short", "--threshold", "hangs == 0", "--threshold",
      "frames < 3",
    ])
    #expect(result.status == .thresholdsNotMet)
    #expect(result.diagnostics.contains("✗ frames < 3"))
    let report = try JSONValue(parsing: result.output)
    #expect(report["thresholds"]?.arrayValue?.count == 2)
    #expect(report["thresholds"]?.arrayValue?.last?["passed"] == false)
  }

  @Test func `an invalid scenario gives exit code 78 and says where`() async throws {
    let bad = directory.write("bad.yaml", Self.scenario.replacing("seed:", with: "sed:").utf8)
    let result = await perform(["simulate", bad, "--local", "--json=short"])
    #expect(result.status == .configuration)
    #expect(result.diagnostics == "livehostctl: \(bad):2: sed: unknown key; did you mean 'seed'?\n")
    let error = try JSONValue(parsing: result.output)["error"]
    #expect(error?["exitCode"] == 78)
    #expect(error?["line"] == 2)
    #expect(error?["key"] == "sed")
    #expect(await perform(["simulate", "\(bad).none", "--local"]).status == .configuration)
  }

  @Test func `an invalid option gives exit code 64`() async {
    for arguments in [
      ["--set", "sed=1"], ["--device", "none"], ["--variant", "none"], ["--threshold", "none"],
      ["--seed", "x"],
    ] {
      let result = await perform(["simulate", path, "--local"] + arguments)
      #expect(result.status == .usage, "\(arguments)")
    }
  }

  @Test func `trace and page are written`() async throws {
    let trace = "\(directory.path)/trace.json"
    let page = "\(directory.path)/page.html"
    let result = await perform(["simulate", path, "--local", "--trace", trace, "--html", page])
    #expect(result.status == .done)
    #expect(try JSONValue(parsing: directory.take("trace.json"))["traceEvents"] != nil)
    #expect(directory.take("page.html").contains("<svg"))
    let refused = await perform(["simulate", path, "--local", "--html", "/nowhere/page.html"])
    #expect(refused.status == .failed)
  }

  @Test func `two reports or two variants are shown side by side`() async throws {
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

  private func perform(_ arguments: [String]) async -> Run { await run(arguments) }
}
