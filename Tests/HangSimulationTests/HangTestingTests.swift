import CheckoutScreen
import Foundation
import HangSimulation
import HangTesting
import Testing

struct HangTestingTests {
  private func folder() throws -> URL {
    let folder = FileManager.default.temporaryDirectory.appending(path: "\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return folder
  }

  @Test func `a test of a plan that meets its thresholds records no issue and writes no trace`()
    async throws
  {
    let folder = try folder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let report = try await expect(
      "microhangs == 0 for ignored", of: SaleScenario.plan(seed: 3), traces: folder.path)
    #expect(report.isPassed)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
  }

  /// Returns the texts of the issues of a failing plan.
  private func issues(
    _ thresholds: [String], traces folder: URL, _ variant: Int = 0
  ) async throws -> [String] {
    var plan = SaleScenario.plan(seed: 3, thresholds: try thresholds.map { try Threshold($0) })
    plan.variants = [plan.variants[variant]]
    plan.devices.removeFirst()
    let texts = Texts()
    try await withKnownIssue {
      try await expect(of: plan, traces: folder.path)
    } matching: { issue in
      texts.append(issue.comments.map(\.rawValue).joined())
      return true
    }
    return texts.list
  }

  private final class Texts: @unchecked Sendable {
    private(set) var list: [String] = []
    func append(_ text: String) { list.append(text) }
  }

  @Test func `a missed threshold is reported as an issue that explains it and names the trace`()
    async throws
  {
    let folder = try folder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let texts = try await issues(
      ["turns.over(250ms) == 0", "view(BasketView).avoidable < 10"],
      traces: folder.appending(path: "not/yet"))
    try #require(texts.count == 2)
    let path = "\(folder.path)/not/yet/sale-3.trace.json"
    #expect(texts[0].hasPrefix("turns.over(250ms) == 0 is not met\nphone x 1.8, tracked, seed 3: "))
    #expect(texts[0].contains("\n  longest turn: ") && texts[0].contains("trace: \(path)"))
    #expect(texts[0].contains("was evaluated because offers.sold changed offers"))
    // The explanation omits the first frame, which is the longest turn but unrelated.
    #expect(texts[1].contains("\n  BasketView: ") && texts[1].contains(" of them avoidable"))
    #expect(texts[1].contains("offers.sold -> offers") && !texts[1].contains("longest turn"))
    let trace = try String(contentsOfFile: path, encoding: .utf8)
    #expect(trace.contains(#""name":"offers.sold""#))
  }

  @Test func `a skipped threshold fails its test`() async throws {
    let folder = try folder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let texts = try await issues(["p95(hangs) == 0"], traces: folder, 1)
    #expect(texts == ["p95(hangs) == 0 was not checked: p95 needs 20 seeds; 'sweep' runs several"])
  }

  @Test func `traces are written to a folder that git ignores, unless the test names another one`()
    async throws
  {
    let plan = SaleScenario.plan(seed: 3)
    let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent().path
    #expect(
      TraceFile(plan, folder: nil, test: #filePath).path
        == "\(package)/.build/hang-traces/sale-3.trace.json")
    #expect(
      TraceFile(plan, folder: nil, test: "/nowhere/Tests/A.swift").path
        .hasSuffix("/hang-traces/sale-3.trace.json"))
  }
}
