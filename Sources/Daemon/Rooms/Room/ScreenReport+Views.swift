import Composable
package import ControlInterface
import HostScreen
import JSON
import LiveEvents
package import ViewGraph
import Wording

/// The data of a room that a report of its screen needs, read on the lane.
struct ScreenReading: Sendable {
  fileprivate let room: RoomName
  fileprivate let root: ViewID
  fileprivate let views: [ViewOutput]
  fileprivate let counters: Counters
  fileprivate let actions: UInt64
  fileprivate let frames: UInt64

  init(_ screen: HostScreen, room: RoomName) {
    screen.evaluateViews()
    self.room = room
    root = screen.views.rootID
    views = screen.views.outputs
    counters = screen.counts.counters
    actions = screen.store.actionCount
    frames = screen.views.frames
  }
}

extension ScreenReport {
  /// Creates a report of the outputs of a room's views, with its event counts.
  init(_ reading: ScreenReading) {
    self.init(root: reading.root, reading.views)
    room = reading.room.description
    counters = reading.counters
    actions = Int(reading.actions)
    frames = Int(reading.frames)
  }

  /// Creates a report of the current outputs of the views of `graph`.
  package init(_ graph: ViewGraph) { self.init(root: graph.rootID, graph.outputs) }

  private init(root: ViewID, _ outputs: [ViewOutput]) {
    var views: [String: ScreenView] = [:]
    for view in outputs {
      views["\(view.id.number)"] = ScreenView(
        name: view.name, output: ScreenNode(showing: view.output))
    }
    self.init(root: root.number, views: views)
  }
}

private typealias ViewOutput = (id: ViewID, name: String, output: ViewNode)

extension ViewGraph {
  fileprivate var outputs: [ViewOutput] {
    var outputs: [ViewOutput] = []
    forEachView { outputs.append(($0, $1, $2)) }
    return outputs
  }
}

extension ScreenNode {
  package init(showing node: ViewNode) {
    switch node {
    case .empty: self.init(kind: .empty)
    case .text(let text, let emphasis):
      self.init(
        kind: .text, text: SafeText.spelled(text), emphasis: ScreenEmphasis(emphasis))
    case .marked(let text, let marks, let emphasis):
      self.init(
        kind: .text, text: SafeText.spelled(text), emphasis: ScreenEmphasis(emphasis),
        marks: marks.flatMap { [$0.lowerBound, $0.upperBound] })
    case .person(let person):
      self.init(
        kind: .text, text: SafeText.spelled(person.name), emphasis: .person,
        detail: person.remark,
        standing: person.standing, color: person.color.map { NameColor(rgb: $0).description })
    case .badge(let text, let emphasis):
      self.init(kind: .badge, text: SafeText.spelled(text), emphasis: ScreenEmphasis(emphasis))
    case .gauge(let label, let value, let text, let emphasis):
      // JSON cannot express NaN or infinity.
      self.init(
        kind: .gauge, text: SafeText.spelled(label), emphasis: ScreenEmphasis(emphasis),
        value: value.isFinite ? value : 0,
        detail: SafeText.spelled(text))
    case .sparkline(let samples): self.init(kind: .sparkline, samples: samples.map(Double.init))
    case .row(let nodes): self.init(kind: .row, parts: nodes.map(ScreenNode.init(showing:)))
    case .column(let nodes): self.init(kind: .column, parts: nodes.map(ScreenNode.init(showing:)))
    case .table(let columns, let rows):
      self.init(
        kind: .table, columns: columns.map(ScreenColumn.init),
        parts: rows.map { ScreenNode(kind: .row, parts: $0.map(ScreenNode.init(showing:))) })
    case .list(let rows, let scrolling):
      self.init(
        kind: .list, scrolling: scrolling,
        parts: rows.map { row in
          var node = ScreenNode(showing: row.node)
          node.id = row.id
          node.group = row.group.map { SafeText.spelled($0) }
          return node
        })
    case .panel(let panel, let node):
      self.init(
        kind: .panel, text: panel.title,
        panel: ScreenPanel(
          name: panel.name, priority: panel.priority, minimumRows: panel.minimumRows,
          usefulRows: panel.usefulRows),
        parts: [ScreenNode(showing: node)])
    case .acting(let acts, let node):
      self.init(showing: node)
      self.acts = (self.acts ?? []) + acts.map(ScreenAct.init)
    case .child(let id): self.init(kind: .child, view: id.number)
    }
  }
}

extension ScreenEmphasis {
  fileprivate init?(_ emphasis: ViewNode.Emphasis) {
    switch emphasis {
    case .normal: return nil
    case .strong: self = .strong
    case .faint: self = .faint
    case .good: self = .good
    case .warning: self = .warning
    case .bad: self = .bad
    case .active: self = .active
    case .person: self = .person
    }
  }
}

extension ScreenAct {
  fileprivate init(_ act: ViewAct) {
    var parameters: [JSONName: JSONValue] = [:]
    for (name, value) in act.arguments {
      parameters[JSONName(name)] =
        switch value {
        case .text(let text): .string(text)
        case .number(let number): .integer(Int64(number))
        case .flag(let flag): .bool(flag)
        case .texts(let texts):
          .object(
            Dictionary(texts.map { (JSONName($0.key), .string($0.value)) }) { $1 })
        }
    }
    let (input, parameter): (ScreenInput?, String?) =
      switch act.input {
      case .level(let name): (.level, name)
      case .text(let name): (.text, name)
      case .row(let name): (.row, name)
      case .numberedRow(let name): (.numberedRow, name)
      case nil: (nil, nil)
      }
    self.init(
      label: SafeText.spelled(act.label), method: act.name, parameters: .object(parameters),
      input: input, parameter: parameter, text: act.text, confirms: act.confirms ? true : nil,
      groups: act.groups?.map { SafeText.spelled($0) })
  }
}

extension ScreenColumn {
  fileprivate init(_ column: ViewNode.TableColumn) {
    let alignment: ScreenAlignment =
      switch column.alignment {
      case .left: .left
      case .right: .right
      }
    self.init(
      title: column.title, alignment: alignment, optional: column.isOptional ? true : nil)
  }
}
