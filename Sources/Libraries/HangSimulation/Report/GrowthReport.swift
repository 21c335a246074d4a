import JSON
import Wording

extension GrowthFinding {
  /// One line with the growing work, the collection, the growth per element, and the work at the
  /// largest size on each device.
  public var line: String {
    let share = FixedPoint.text(Int64((confidence * 1_000).rounded()), decimals: 1)
    var line =
      "\(kind.rawValue) \(name) grows with \(field)"
      + (together.isEmpty ? "" : " (or \(together.joined(separator: ", ")), which grow together)")
      + ": \(perElement.shortText) per element" + (order == .linear ? "" : " as \(order.rawValue)")
      + ", measured from \(Format.count(sizes.lowerBound)) to \(Format.count(sizes.upperBound))"
    if field == Self.elements { line += ", which the device's costs do not include" }
    if !projected.isEmpty {
      line += "; " + projected.map(\.text).joined(separator: ", ")
    }
    return line + "; confidence \(share) %"
  }
}

extension Duration {
  /// The duration as text in microseconds below 0.1 ms, otherwise in milliseconds.
  var shortText: String {
    let nanoseconds = VirtualTime(self).nanoseconds
    return nanoseconds < 100_000
      ? "\(FixedPoint.text(nanoseconds / 10, decimals: 2)) us"
      : "\(FixedPoint.milliseconds(nanoseconds, decimals: 2)) ms"
  }
}

extension GrowthFinding.Projection {
  fileprivate var text: String {
    "\(work.shortText) at \(Format.count(size)) on \(device)"
  }
}

extension SimulationReport {
  /// The measured work that is not part of the simulated turns, one line each.
  package var realWork: [String] {
    growth.map(\.lineOfVariant) + laneHolds.map(\.lineOfVariant)
  }

  /// The section of the text report about measured work; empty without any.
  var realWorkLines: [String] {
    guard !realWork.isEmpty else { return [] }
    return ["", "Real work beyond the assumed costs (measured here, not part of the digest):"]
      + realWork.map { "  ! \($0)" }
  }
}

extension GrowthFinding {
  fileprivate var lineOfVariant: String { "\(variant): \(line)" }

  func addMembers(to json: inout JSONWriter) {
    json.add("variant", variant)
    json.add("kind", kind.rawValue)
    json.add("name", name)
    json.add("field", field)
    json.addTexts("together", together)
    json.add("order", order.rawValue)
    json.add("perElementNs", Int(VirtualTime(perElement).nanoseconds))
    json.add("confidence", (confidence * 1_000).rounded() / 1_000)
    json.addArray("sizes") { json in
      json.append(sizes.lowerBound)
      json.append(sizes.upperBound)
    }
    json.addObjects("projected", projected) { projection, json in
      json.add("device", projection.device)
      json.add("size", projection.size)
      json.addJSON(
        "ms", FixedPoint.milliseconds(VirtualTime(projection.work).nanoseconds))
    }
    json.add("line", lineOfVariant)
  }
}

extension LaneHold {
  fileprivate var lineOfVariant: String { "\(variant): \(line)" }

  func addMembers(to json: inout JSONWriter) {
    json.add("variant", variant)
    json.add("effect", effect)
    json.add("count", count)
    json.addJSON("longestMs", FixedPoint.milliseconds(VirtualTime(longest).nanoseconds))
    json.add("device", device)
    json.addJSON(
      "longestOnDeviceMs", FixedPoint.milliseconds(VirtualTime(longestOnDevice).nanoseconds))
    json.add("line", lineOfVariant)
  }
}

extension RunReport {
  /// The growth of work in this variant; `nil` if it was not measured.
  var growth: GrowthRecord? { measuredGrowth.value }
}
