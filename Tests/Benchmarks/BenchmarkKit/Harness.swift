import Foundation

/// One measured figure.
public struct BenchmarkRow: Encodable, Sendable {
  public let name: String
  public let median: Double
  public let unit: String
  /// The median of the ratios to the floor, measured side by side; absent for rows that are not
  /// times.
  public let ratioToFloor: Double?
  /// The target for the figure, shown in the table.
  let bar: String?

  enum CodingKeys: String, CodingKey { case name, median, unit, ratioToFloor }
}

/// Measures cases alternately with a floor, so that a slow moment of the machine affects both.
///
/// Each row is the median of many short rounds. The floor is the cost of the same work without a
/// library: a nested switch over a plain struct.
public final class Harness {
  private let wanted: [String]
  private let rounds: Int
  private var rows: [BenchmarkRow] = []
  private var floors: [Double] = []
  private var floor = Floor()

  /// - Parameters:
  ///   - wanted: names of the cases to run, or prefixes of names. Empty for all cases.
  ///   - rounds: how often each case is measured.
  public init(wanted: [String], rounds: Int = 15) {
    self.wanted = wanted
    self.rounds = rounds
  }

  public func isWanted(_ name: String) -> Bool {
    wanted.isEmpty || wanted.contains { name == $0 || name.hasPrefix($0 + ".") }
  }

  /// Measures nanoseconds per operation.
  ///
  /// - Parameters:
  ///   - operations: the number of operations in one call of `body`.
  /// - body: performs the operations. The first run is not measured.
  public func measure(
    _ name: String, bar: String? = nil, operations: Int, _ body: () throws -> Void
  ) rethrows {
    guard isWanted(name) else { return }
    progress(name)
    try body()
    var times: [Double] = []
    var ratios: [Double] = []
    for _ in 0..<rounds {
      let floor = measureFloor()
      let start = Self.now()
      try body()
      let time = Double(Self.now() - start) / Double(operations)
      times.append(time)
      ratios.append(time / floor)
    }
    rows.append(
      BenchmarkRow(
        name: name, median: Self.median(times), unit: "ns", ratioToFloor: Self.median(ratios),
        bar: bar))
  }

  /// Adds a figure that the caller measured.
  public func report(_ name: String, _ value: Double, _ unit: String, bar: String? = nil) {
    rows.append(
      BenchmarkRow(name: name, median: value, unit: unit, ratioToFloor: nil, bar: bar))
  }

  private func measureFloor() -> Double {
    let operations = 20_000
    let start = Self.now()
    for index in 0..<operations { floor.step(index) }
    let time = Double(Self.now() - start) / Double(operations)
    floors.append(time)
    return time
  }

  /// The monotonic time in nanoseconds.
  public static func now() -> UInt64 { clock_gettime_nsec(CLOCK_MONOTONIC) }

  /// Waits until a monotonic time in nanoseconds. Returns immediately if that time has passed.
  public static func wait(until time: UInt64) {
    var due = timespec(tv_sec: Int(time / 1_000_000_000), tv_nsec: Int(time % 1_000_000_000))
    while clock_nanosleep(CLOCK_MONOTONIC, Int32(TIMER_ABSTIME), &due, nil) == EINTR {}
  }

  public static func median(_ values: [Double]) -> Double {
    let sorted = values.sorted()
    guard !sorted.isEmpty else { return 0 }
    let middle = sorted.count / 2
    return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
  }

  private func progress(_ name: String) {
    FileHandle.standardError.write(Data("measuring \(name)\n".utf8))
  }

  // MARK: Results

  /// Prints the table.
  public func printTable() {
    let width = max(12, rows.map(\.name.count).max() ?? 0)
    func pad(_ text: String, _ width: Int, left: Bool = false) -> String {
      let fill = String(repeating: " ", count: max(0, width - text.count))
      return left ? fill + text : text + fill
    }
    print(pad("case", width), pad("median", 14, left: true), pad("x floor", 9, left: true), "  bar")
    for row in rows {
      let ratio = row.ratioToFloor.map { String(format: "%.1f", $0) } ?? "-"
      print(
        pad(row.name, width), pad(Self.format(row.median, row.unit), 14, left: true),
        pad(ratio, 9, left: true), "  \(row.bar ?? "")")
    }
    print(
      "floor (nested switch over a plain struct): \(String(format: "%.2f", Self.median(floors))) ns"
    )
  }

  private static func format(_ value: Double, _ unit: String) -> String {
    value >= 10_000
      ? String(format: "%.0f %@", value, unit) : String(format: "%.2f %@", value, unit)
  }

  private struct Report: Encodable {
    let commit: String
    let floorNanoseconds: Double
    let rows: [BenchmarkRow]
  }

  /// Writes the figures as JSON.
  public func write(to path: String, commit: String) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    let report = Report(commit: commit, floorNanoseconds: Self.median(floors), rows: rows)
    try encoder.encode(report).write(to: URL(fileURLWithPath: path))
  }
}

private func clock_gettime_nsec(_ clock: clockid_t) -> UInt64 {
  var time = timespec()
  clock_gettime(clock, &time)
  return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}

/// Prevents the optimiser from removing the computation of `value`.
@inline(never)
public func keep<T>(_ value: T) { _ = value }
