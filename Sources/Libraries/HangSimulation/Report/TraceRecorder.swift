import JSON
import ViewGraph

/// Records runs as Chrome trace JSON, which Perfetto can open. Each run is a process with one
/// thread. Slices nest: a turn contains actions and views, and views contain views. An arrow
/// connects an action to each view whose evaluation it triggered.
package final class TraceRecorder {
  /// The number of events that trace viewers can open easily. Later events are omitted, and the
  /// trace contains a note.
  private static let limit = 200_000

  private var body = ""
  private var count = 0
  private var omitted = 0
  private var process = 0
  private var lastFlow: UInt64 = 0
  /// The identifier of the arrow that starts at the newest action of each kind, by name.
  private var flows: [String: UInt64] = [:]
  private var pending: [(name: String, start: Int64, end: Int64, flow: UInt64)] = []

  /// Begins a run, to which the following events belong.
  func begin(_ run: String) {
    process += 1
    flows = [:]
    let name = JSONValue.string(run).description
    append(
      "{\"ph\":\"M\",\"pid\":\(process),\"tid\":1,\"name\":\"process_name\",\"args\":{\"name\":\(name)}}"
    )
    append(
      "{\"ph\":\"M\",\"pid\":\(process),\"tid\":1,\"name\":\"thread_name\",\"args\":{\"name\":\"main\"}}"
    )
  }

  func action(_ name: String, _ start: Int64, _ end: Int64) {
    lastFlow += 1
    flows[name] = lastFlow
    pending.append((name, start, end, lastFlow))
  }

  func appearance(_ start: Int64, _ end: Int64) { slice("appearance", "view", start, end) }

  func evaluation(_ record: EvaluationRecord) {
    var flow: UInt64 = 0
    var cause = ""
    if let trigger = record.triggers.first {
      cause = "\(trigger.action): \(trigger.field)"
      flow = flows[trigger.action] ?? 0
    }
    var arguments = "{\"kind\":\"\(record.cause.kind.rawValue)\""
    if !cause.isEmpty {
      arguments += ",\"cause\":\(JSONValue.string(cause))"
    }
    arguments += ",\"avoidable\":\(record.isAvoidable)}"
    slice(
      record.name, "view", Int64(record.start), Int64(record.start + record.inclusive),
      flow == 0 ? "" : ",\"bind_id\":\"0x\(String(flow, radix: 16))\",\"flow_in\":true",
      arguments: arguments)
  }

  /// Adds an effect as an asynchronous slice, because effects overlap.
  func effect(_ name: String, _ number: Int, _ start: Int64, _ end: Int64, _ outcome: String) {
    for (phase, time) in [("b", start), ("e", end)] {
      append(
        "{\"ph\":\"\(phase)\",\"pid\":\(process),\"tid\":1,\"cat\":\"effect\",\"id\":\(number),"
          + "\"name\":\"\(name)\",\"ts\":\(FixedPoint.text(time, decimals: 3)),"
          + "\"args\":{\"outcome\":\"\(outcome)\"}}")
    }
  }

  /// Adds the number of events in each part of the run, and the periods of faults. Called at the
  /// end of a run. Not subject to the limit, because these events are few.
  func end(_ report: RunReport) {
    for (part, count) in report.arrivals.enumerated() {
      let perSecond = Int128(count) * 1_000_000_000 / Int128(report.bucket)
      add(
        "{\"ph\":\"C\",\"pid\":\(process),\"name\":\"events per second\","
          + "\"ts\":\(FixedPoint.text(Int64(part) * report.bucket, decimals: 3)),"
          + "\"args\":{\"events\":\(perSecond)}}")
    }
    for (number, fault) in report.faultWindows.enumerated() {
      for (phase, time) in [("b", fault.start), ("e", fault.end)] {
        add(
          "{\"ph\":\"\(phase)\",\"pid\":\(process),\"tid\":1,\"cat\":\"fault\",\"id\":\(number),"
            + "\"name\":\"\(fault.kind)\",\"ts\":\(FixedPoint.text(time, decimals: 3))}")
      }
    }
  }

  func turn(_ start: Int64, _ end: Int64, isFrame: Bool) {
    defer { pending.removeAll(keepingCapacity: true) }
    // A turn in which throttles only held events is not worth showing.
    if end > start { slice(isFrame ? "frame" : "turn", "turn", start, end) }
    for action in pending {
      guard action.end > action.start else { continue }
      slice(
        action.name, "action", action.start, action.end,
        ",\"bind_id\":\"0x\(String(action.flow, radix: 16))\",\"flow_out\":true")
    }
  }

  private func slice(
    _ name: String, _ category: String, _ start: Int64, _ end: Int64, _ flow: String = "",
    arguments: String? = nil
  ) {
    let time = FixedPoint.text(start, decimals: 3)
    let length = FixedPoint.text(end - start, decimals: 3)
    append(
      "{\"ph\":\"X\",\"pid\":\(process),\"tid\":1,\"cat\":\"\(category)\",\"name\":\"\(name)\","
        + "\"ts\":\(time),\"dur\":\(length)\(flow)\(arguments.map { ",\"args\":\($0)" } ?? "")}")
  }

  private func append(_ event: String) {
    guard count < Self.limit else {
      omitted += 1
      return
    }
    add(event)
    count += 1
  }

  private func add(_ event: String) {
    body += body.isEmpty ? "\n" : ",\n"
    body += event
  }

  package var text: String {
    let note =
      omitted == 0
      ? "complete" : "\(omitted) events after the first \(Self.limit) are omitted"
    return
      "{\"displayTimeUnit\":\"ms\",\"otherData\":{\"note\":\"\(note)\"},\"traceEvents\":[\(body)\n]}\n"
  }
}
