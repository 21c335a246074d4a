import Composable
import ViewGraph

/// Measures what the actions, evaluations and frames of a screen really take on this machine, while it is simulated,
/// and how large the collections of its state are meanwhile.
///
/// Belongs to the thread that simulates.
final class CostRecorder {
  private let now: () -> UInt64
  private var measurements: [CostMeasurement] = []
  /// For each measurement, what it belongs to, and the row of ``looks`` that was seen at the end of its turn.
  private var places: [(kind: GrowthFinding.Kind, look: Int)] = []
  private(set) var frames: [HereCalibration.Frame] = []
  /// When what is being measured began.
  private var mark: UInt64 = 0
  private var turnStart: UInt64 = 0

  /// Looks at the sizes again if something was measured since it last did.
  let reader = SizeReader()
  private var looks: [[Int]] = []

  /// - Parameter now: monotonic nanoseconds.
  init(now: @escaping () -> UInt64) { self.now = now }

  func beginTurn() {
    noteSizes()
    turnStart = now()
    mark = turnStart
  }

  /// - Parameter simulated: what the frame took on the simulated device.
  func endFrame(simulated: Int64) {
    frames.append(
      HereCalibration.Frame(simulated: simulated, measured: Int64(clamping: now() &- turnStart)))
  }

  /// Ends an action that followed the one before, or the beginning of the turn.
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
    places.append((kind, looks.count))
    reader.invalidate()
  }

  /// Sees the sizes at the end of a turn, outside of what is measured.
  private func noteSizes() {
    if reader.update() { looks.append(reader.sizes.counts) }
  }

  // MARK: Result

  /// So many of a view or a kind of action are enough to find what they grow with.
  private static let most = 256

  /// What was measured. Work that grows with a collection of the state has the sizes of that one; sizes that explain
  /// nothing are left out, since a fit would share noise among them.
  ///
  /// - Parameter reads: names of the fields that the views of a name read.
  func measured(
    on device: Device, for duration: VirtualTime, reads: @escaping (String) -> [String]
  ) -> [CostMeasurement] {
    noteSizes()
    let members = Dictionary(grouping: measurements.indices) { index in
      GrowthSubject(kind: places[index].kind, name: measurements[index].name)
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
        // Early rows are shorter, since collections appear later.
        let row = looks[places[index].look]
        measurements[index].sizes[field] = path < row.count ? row[path] : 0
      }
    }
    return measurements
  }

  private func target(_ subject: GrowthSubject, _ members: [Int]) -> WorkTable.Target {
    var target = WorkTable.Target(kind: subject.kind, name: subject.name)
    target.stride = (members.count + Self.most - 1) / Self.most
    target.samples = stride(from: 0, to: members.count, by: target.stride).map { place in
      let index = members[place]
      return WorkTable.Sample(
        work: Int64(measurements[index].duration), elements: measurements[index].elements,
        look: places[index].look)
    }
    return target
  }
}
