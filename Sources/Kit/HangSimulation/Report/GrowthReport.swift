import JSON
import Wording

extension GrowthFinding {
  /// One line: what grows with what, by how much, and the work at the largest size on each device.
  public var line: String {
    let share = FixedPoint.text(Int64((confidence * 1_000).rounded()), decimals: 1)
    var line =
      "\(kind.rawValue) \(name) grows with \(field)"
      + (together.isEmpty ? "" : " (or \(together.joined(separator: ", ")), which grow together)")
      + ": \(perElement.shortText) per element" + (order == .linear ? "" : " as \(order.rawValue)")
      + ", measured from \(Format.count(sizes.lowerBound)) to \(Format.count(sizes.upperBound))"
    if field == Self.elements { line += ", which the costs of the device do not contain" }
    if !projected.isEmpty {
      line += "; " + projected.map(\.text).joined(separator: ", ")
    }
    return line + "; confidence \(share) %"
  }
}

extension Duration {
  /// With a unit in which it is at least one.
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
  /// What was measured and is no part of the simulated turns, in a line each.
  package var realWork: [String] {
    growth.map(\.lineOfVariant) + laneHolds.map(\.lineOfVariant)
  }

  /// The same for the report for people; nothing if there is nothing to say.
  var realWorkLines: [String] {
    guard !realWork.isEmpty else { return [] }
    return ["", "Real work that costs do not contain (measured here, not part of the digest):"]
      + realWork.map { "  ! \($0)" }
  }
}

extension GrowthFinding {
  fileprivate var lineOfVariant: String { "\(variant): \(line)" }

  func append(to json: inout JSONWriter) {
    json.appendObject { json in
      json.add("variant", variant)
      json.add("kind", kind.rawValue)
      json.add("name", name)
      json.add("field", field)
      json.addArray("together") { json in for field in together { json.append(field) } }
      json.add("order", order.rawValue)
      json.add("perElementNs", Int(VirtualTime(perElement).nanoseconds))
      json.add("confidence", (confidence * 1_000).rounded() / 1_000)
      json.addArray("sizes") { json in
        json.append(sizes.lowerBound)
        json.append(sizes.upperBound)
      }
      json.addArray("projected") { json in
        for projection in projected {
          json.appendObject { json in
            json.add("device", projection.device)
            json.add("size", projection.size)
            json.addJSON(
              "ms", FixedPoint.milliseconds(VirtualTime(projection.work).nanoseconds))
          }
        }
      }
      json.add("line", lineOfVariant)
    }
  }
}

extension LaneHold {
  fileprivate var lineOfVariant: String { "\(variant): \(line)" }

  func append(to json: inout JSONWriter) {
    json.appendObject { json in
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
}

extension RunReport {
  /// Work that grows with the state in this variant; `nil` if it was not looked for.
  var growth: GrowthRecord? { measuredGrowth.value }
}
