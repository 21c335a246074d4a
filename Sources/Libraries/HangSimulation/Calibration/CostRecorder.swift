import Composable
import ViewGraph

/// Measures the real durations of a screen's actions, evaluations, and frames on this machine
/// during a simulation, and the sizes of its state's collections. Belongs to the simulating thread.
final class CostRecorder {
  private let now: () -> UInt64
  private var measurements: [CostMeasurement] = []
  /// The kind of each measurement, and the row of ``looks`` at the end of its turn.
  private var origins: [(kind: GrowthFinding.Kind, look: Int)] = []
  private(set) var frames: [LocalCalibration.Frame] = []
  /// The start of the current measurement.
  private var mark: UInt64 = 0
  private var turnStart: UInt64 = 0

  /// Reads the sizes again if anything was measured since the last read.
  let reader = SizeReader()
  private var looks: [[Int]] = []

  /// - Parameter now: Returns monotonic nanoseconds.
  init(now: @escaping () -> UInt64) { self.now = now }

  func beginTurn() {
    recordSizes()
    turnStart = now()
    mark = turnStart
  }

  /// - Parameter simulated: The duration of the frame on the simulated device.
  func endFrame(simulated: Int64) {
    frames.append(
      LocalCalibration.Frame(simulated: simulated, measured: Int64(clamping: now() &- turnStart)))
  }

  /// Ends an action, which began at the end of the previous action or at the start of the turn.
  func endAction(_ name: String, elements: Int) {
    let duration = now() &- mark
    add(.action, CostMeasurement(name: name, duration: Double(duration), elements: elements))
    mark = now()
  }

  func beginEvaluation() { mark = now() }

  func endEvaluation(_ view: String, _ output: ViewNode, isFirst: Bool) {
    let duration = now() &- mark
    add(
      .view,
      CostMeasurement(
        name: view, duration: Double(duration), elements: output.elementCount, isFirst: isFirst))
  }

  private func add(_ kind: GrowthFinding.Kind, _ measurement: CostMeasurement) {
    measurements.append(measurement)
    origins.append((kind, looks.count))
    reader.invalidate()
  }

  /// Reads the sizes at the end of a turn, outside the measured intervals.
  private func recordSizes() {
    if reader.update() { looks.append(reader.sizes.counts) }
  }

  // MARK: Result

  /// The number of samples of a view or action kind that suffices to detect growth.
  private static let maximumSamples = 256

  /// Returns the measurements. Measurements of work that grows with a collection include the
  /// collection's sizes. Other sizes are omitted, because a fit would divide noise among them.
  /// `reads` returns the names of the fields that the views with a given name read.
  func measured(
    on device: Device, for duration: VirtualTime, reads: @escaping (String) -> [String]
  ) -> [CostMeasurement] {
    recordSizes()
    let members = Dictionary(grouping: measurements.indices) { index in
      GrowthSubject(kind: origins[index].kind, name: measurements[index].name)
    }
    let table = WorkTable(
      targets: members.map { target($0.key, $0.value) }, paths: reader.sizes.paths,
      sizes: looks)
    let search = GrowthSearch(table: table, device: device, duration: duration, reads: reads)
    for found in search.found {
      guard let field = found.fields.first(where: { $0 != GrowthFinding.elements }),
        let path = reader.sizes.paths.firstIndex(of: field)
      else { continue }
      for index in members[GrowthSubject(kind: found.kind, name: found.name)] ?? [] {
        // A row has no sizes of collections that appear later.
        let row = looks[origins[index].look]
        measurements[index].sizes[field] = path < row.count ? row[path] : 0
      }
    }
    return measurements
  }

  private func target(_ subject: GrowthSubject, _ members: [Int]) -> WorkTable.Target {
    var target = WorkTable.Target(kind: subject.kind, name: subject.name)
    target.stride = (members.count + Self.maximumSamples - 1) / Self.maximumSamples
    target.samples = stride(from: 0, to: members.count, by: target.stride).map { position in
      let index = members[position]
      return WorkTable.Sample(
        work: Int64(measurements[index].duration), elements: measurements[index].elements,
        look: origins[index].look)
    }
    return target
  }
}
