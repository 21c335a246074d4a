import CommandLineTool
import JSON
import TestSupport
import Testing

@Suite struct CalibrateTests {
  private let directory: TemporaryDirectory
  private let trace: String

  init() throws {
    directory = TemporaryDirectory()
    try directory.makeDirectory("devices")
    _ = directory.write(
      "devices/known.yaml",
      "slowdown: 2\ncosts: {action: 9ms, view: 7ms, views: {ChatView: {appearance: 3ms}}}".utf8)
    var lines = ["name,milliseconds,elements"]
    for number in 0..<40 {
      lines.append("ChatView,\(4 + number % 8),\(number % 8)")
      lines.append("chat.messages,0.5,1")
    }
    trace = directory.write("trace.csv", lines.joined(separator: "\n").utf8)
  }

  @Test
  func `measured costs become a device profile, and unmeasured costs are those of another device`()
    async throws
  {
    let profile = "\(directory.path)/devices/mine.yaml"
    let text = await run(["calibrate", trace, "--output", profile, "--like", "known"])
    #expect(text.status == .done, "\(text.diagnostics)")
    #expect(text.output.contains("ChatView       4.0000 ms  1.0000 ms     assumed"))
    let written = directory.removeFile("devices/mine.yaml")
    // The other device's costs are twice those of its profile.
    #expect(written.contains("    ChatView: {evaluation: 2000000ns, element: 500000ns}  # "))
    #expect(written.contains("    chat.messages: 250000ns  # "))
    #expect(written.contains("like: known\n"))
    #expect(
      written.contains("  measured: [ChatView.element, ChatView.evaluation, chat.messages]\n"))
    // The written profile can be simulated, and the simulation uses the measured costs.
    _ = directory.write("devices/mine.yaml", written.utf8)
    let scenario = directory.write(
      "one.yaml",
      """
      name: one
      duration: 3s
      devices: [mine]
      events: [{generate: chat.message, rate: 20/s}]
      """.utf8)
    let simulated = await run(["simulate", scenario, "--local", "--json=short"])
    #expect(simulated.status == .done, "\(simulated.diagnostics)")
    #expect(simulated.output.contains(#""costs":{"assumed":107,"measured":3}"#))
  }

  @Test func `calibrate --here measures this machine and compares its frames with a simulation`()
    async
  {
    let scenario = directory.write(
      "short.yaml",
      """
      name: short
      duration: 20s
      devices: [known]
      events: [{generate: chat.message, rate: 20/s}, {generate: reaction, rate: 20/s}]
      """.utf8)
    let result = await run([
      "calibrate", "--here", "--scenario", scenario, "--scatter", "\(directory.path)/s.svg",
    ])
    #expect(result.status == .done, "\(result.diagnostics)")
    #expect(result.output.contains("frames of another run: measured "))
    #expect(directory.removeFile("s.svg").hasPrefix("<svg "))
    #expect(await run(["calibrate", "--here", trace]).status == .usage)
    #expect(await run(["calibrate"]).status == .usage)
    #expect(await run(["calibrate", trace, "--scatter", "x.svg"]).status == .usage)
    #expect(await run(["calibrate", trace, "--scenario", scenario]).status == .usage)
  }

  @Test func `calibrated costs are printed as JSON`() async throws {
    let result = await run(["calibrate", trace, "--json=short"])
    let found = try JSONValue(parsing: result.output)
    let view = found["costs"]?.arrayValue?.first
    #expect(view?["name"] == "ChatView" && view?["kind"] == "view")
    #expect(view?["base"] == 4_000_000 && view?["element"] == 1_000_000)
    #expect(view?["appearance"] == nil && view?["outliers"] == 0)
    #expect(found["measured"] == 3)
    #expect(found["missing"]?.arrayValue?.contains("HostView") == true)
  }

  @Test
  func `a trace that is unreadable or does not fit the screen causes an error that names its file`()
    async
  {
    let other = directory.write("other.csv", "name,milliseconds\nChatVew,1\n".utf8)
    let near = await run(["calibrate", other])
    #expect(
      near.status == .badData && near.diagnostics.contains("'ChatVew' is similar to 'ChatView'"))
    let binary = directory.write("other.bin", [0x0A, 0, 1] as [UInt8])
    let unreadable = await run(["calibrate", binary])
    #expect(
      unreadable.status == .badData
        && unreadable.diagnostics.contains("other.bin: is a binary file"))
    let absent = await run(["calibrate", "\(directory.path)/none"])
    #expect(absent.status == .badData && absent.diagnostics.contains("cannot read"))
    let half = await run(["calibrate", trace, "--output", "\(directory.path)/x.yaml"])
    #expect(half.status == .usage)
    let unknown = await run([
      "calibrate", trace, "--output", "\(directory.path)/x.yaml", "--like", "knwn",
    ])
    #expect(
      unknown.status == .usage && unknown.diagnostics.contains("did you mean 'known'"))
  }
}
