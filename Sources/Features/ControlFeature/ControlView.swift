import LiveEvents
package import ViewGraph
import Wording

/// Shows sliders, switches, and level meters in one row each. Marks sliders that are being dragged.
package struct ControlView: View {
  package static let name = "ControlView"

  package init() {}

  package func body(_ state: Observed<ControlFeature.State>, _ context: ViewContext) -> ViewNode {
    let dragging = state.dragging
    let values = state.values
    let requests = state.requests
    var rows: [ViewNode.ListRow] = values.entries.map { entry in
      slider(entry.name, entry.value, local: dragging[entry.name], requests)
    }
    for entry in dragging.entries where values[entry.name] == nil {
      rows.append(slider(entry.name, entry.value, local: entry.value, requests))
    }
    for case .slider(let control, let value) in requests?.outstanding.map(\.command) ?? []
    where values[control] == nil && dragging[control] == nil {
      rows.append(slider(control, value, local: nil, requests))
    }
    for entry in state.meters.entries {
      let peak = Double(entry.value.max() ?? 0)
      rows.append(
        row(
          "meter", entry.name,
          .gauge(label: entry.name, value: peak, text: Format.percent(peak), .faint)))
    }
    var lines: [ViewNode] = rows.isEmpty ? [] : [.list(rows)]
    let switches = state.switches.entries
    var positions: [ViewNode] = switches.map { entry in
      .text("\(entry.name) \(word(entry.value))", entry.value ? .good : .faint)
        .acting(
          ViewAct(
            "turn \(word(!entry.value))", "SetControl",
            ["control": .text(entry.name), "on": .flag(!entry.value)]))
    }
    for request in requests?.outstanding ?? [] {
      switch request.command {
      // Acts are shown in the chat.
      case .slider, .act: break
      case .switch(let control, let position):
        positions.append(.text("\(control) \(word(position)) pending", .warning))
      case .endStream: positions.append(.text("ending the stream", .warning))
      case .record(let wish):
        positions.append(.text("recorder \(wish.rawValue) pending", .warning))
      }
    }
    if !positions.isEmpty { lines.append(.row(positions)) }
    for failure in requests?.failures.entries ?? [] {
      let name =
        failure.name == ControlFeature.recorder ? "recorder elsewhere" : "\(failure.name) not set"
      lines.append(.row([.text("\(name): \(failure.value)", .bad)]))
    }
    return .panel(
      .init("control", title: "Controls", priority: 4, usefulRows: 16), .column(lines))
  }

  private func word(_ position: Bool) -> String { position ? "on" : "off" }

  /// Returns a row that shows the local value during a drag, otherwise the requested value if there
  /// is one, and otherwise the committed value.
  private func slider(
    _ name: String, _ value: Double, local: Double?, _ requests: Requests?
  ) -> ViewNode.ListRow {
    var (shown, mark) = (local ?? value, local == nil ? "" : " dragged")
    if local == nil, case .slider(_, let wish)? = requests?.outstanding(for: name)?.command {
      (shown, mark) = (wish, " pending")
    }
    return row(
      "slider", name,
      .gauge(
        label: name, value: shown, text: Format.percent(shown) + mark,
        mark.isEmpty ? .normal : .warning
      ).acting(
        ViewAct("set", "SetControl", ["control": .text(name)], input: .level("value"))))
  }

  /// Returns a row whose `kind` distinguishes a slider and a meter with the same name.
  private func row(_ kind: String, _ name: String, _ node: ViewNode) -> ViewNode.ListRow {
    ViewNode.ListRow(id: "\(kind):\(name)", node)
  }
}
