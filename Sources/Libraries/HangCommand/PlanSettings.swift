import HangSimulation
import Wording

#if canImport(ArgumentParser)
  import ArgumentParser
#endif

extension SimulationPlan {
  private static let costs:
    [(key: String, path: any WritableKeyPath<CostOverrides, Int64?> & Sendable)] =
      [
        ("costs.action", \.action), ("costs.element", \.element), ("costs.view", \.view),
        ("costs.viewElement", \.viewElement), ("costs.appearance", \.appearance),
      ]
  private static let settings =
    ["seed", "duration", "load", "screen.refreshRate"] + costs.map(\.key)

  /// Sets a value of the plan, or of all its variants, from `key=value`, with the keys and units of
  /// scenario files.
  /// - Throws: `ValidationError`.
  mutating func set(_ setting: String) throws {
    guard let sign = setting.firstIndex(of: "="), sign > setting.startIndex else {
      throw ValidationError("--set: expected key=value, not '\(setting)'")
    }
    let (key, value) = (
      String(setting[..<sign]), String(setting[setting.index(after: sign)...])
    )
    func need<Value>(_ found: Value?, _ expectation: String) throws -> Value {
      guard let found else {
        throw ValidationError("--set: \(key): expected \(expectation), not '\(value)'")
      }
      return found
    }
    switch key {
    case "seed": seed = try need(UInt64(value), "a whole number")
    case "duration":
      let time = try need(
        Quantity.nanoseconds(value).flatMap { $0 > 0 ? $0 : nil }, "a time such as 10m")
      duration = VirtualTime(nanoseconds: time)
      // Events after the new end of the run are omitted intentionally.
      for index in variants.indices { variants[index].lastEvent = nil }
    case "load":
      load = try need(
        Quantity.millionths(value).flatMap { (1_000...1_000_000_000).contains($0) ? $0 : nil },
        "a factor of 0.001 to 1000")
    case "screen.refreshRate":
      let rate = try need(
        Int(value).flatMap { (1...240).contains($0) ? $0 : nil }, "a whole number from 1 to 240")
      for index in variants.indices { variants[index].framesPerSecond = rate }
    default:
      guard let cost = Self.costs.first(where: { $0.key == key }) else {
        throw ValidationError(
          "--set: unknown key '\(key)'" + Spelling.hint(for: key, among: Self.settings))
      }
      let time = try need(Quantity.nanoseconds(value), "a time such as 2ms")
      for index in variants.indices { variants[index].costs[keyPath: cost.path] = time }
    }
    parameters.append((key, value))
  }
}
