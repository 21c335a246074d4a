package import ViewGraph

/// Sliders, switches and meters, one line each.
package struct ControlView: View {
  package static let name = "ControlView"

  package init() {}

  package func body(_ state: Observed<ControlFeature.State>, _ context: ViewContext) -> ViewNode {
    let dragging = state.dragging
    let values = state.values
    var rows: [ViewNode.ListRow] = values.entries.map { entry in
      let shown = dragging[entry.name] ?? entry.value
      return row("slider", entry.name, .gauge(label: entry.name, value: shown))
    }
    for entry in dragging.entries where values[entry.name] == nil {
      rows.append(row("slider", entry.name, .gauge(label: entry.name, value: entry.value)))
    }
    for entry in state.switches.entries {
      rows.append(row("switch", entry.name, .text("\(entry.name) \(entry.value ? "on" : "off")")))
    }
    for entry in state.meters.entries {
      let peak = Double(entry.value.max() ?? 0)
      rows.append(row("meter", entry.name, .gauge(label: entry.name, value: peak)))
    }
    return .panel(title: "control", .list(rows))
  }

  /// Kinds keep a slider and a meter of one name apart.
  private func row(_ kind: String, _ name: String, _ node: ViewNode) -> ViewNode.ListRow {
    ViewNode.ListRow(id: "\(kind):\(name)", node)
  }
}
