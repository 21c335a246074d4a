package import ViewGraph
import Wording

/// Sliders, switches and level meters, one row each. Those that are being dragged are marked.
package struct ControlView: View {
  package static let name = "ControlView"

  package init() {}

  package func body(_ state: Observed<ControlFeature.State>, _ context: ViewContext) -> ViewNode {
    let dragging = state.dragging
    let values = state.values
    var rows: [ViewNode.ListRow] = values.entries.map { entry in
      let local = dragging[entry.name]
      return slider(entry.name, local ?? entry.value, isDragged: local != nil)
    }
    for entry in dragging.entries where values[entry.name] == nil {
      rows.append(slider(entry.name, entry.value, isDragged: true))
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
    if !switches.isEmpty {
      lines.append(
        .row(
          switches.map { entry in
            .text("\(entry.name) \(entry.value ? "on" : "off")", entry.value ? .good : .faint)
          }))
    }
    return .panel(
      .init("control", title: "Controls", priority: 4, usefulRows: 16), .column(lines))
  }

  private func slider(_ name: String, _ value: Double, isDragged: Bool) -> ViewNode.ListRow {
    let text = Format.percent(value) + (isDragged ? " dragged" : "")
    return row(
      "slider", name,
      .gauge(label: name, value: value, text: text, isDragged ? .warning : .normal))
  }

  /// The kind keeps a slider and a meter with the same name apart.
  private func row(_ kind: String, _ name: String, _ node: ViewNode) -> ViewNode.ListRow {
    ViewNode.ListRow(id: "\(kind):\(name)", node)
  }
}
