package import ControlInterface
package import JSON

/// Something on a screen that people can select and act on.
package struct ActTarget: Equatable, Sendable {
  /// The same as long as it stands for the same thing, whatever that shows at the moment.
  package var identity: String
  package var acts: [ScreenAct]
  /// The identity of the row of a list, for acts that want one.
  package var row: String?
  /// The level that it shows, for acts that set one.
  package var level: Double?

  package init(identity: String, acts: [ScreenAct], row: String? = nil, level: Double? = nil) {
    self.identity = identity
    self.acts = acts
    self.row = row
    self.level = level
  }

  /// Those of a tree, in the order in which they are drawn.
  package static func all(in node: ScreenNode) -> [ActTarget] {
    var targets: [ActTarget] = []
    collect(node, &targets)
    return targets
  }

  private static func collect(_ node: ScreenNode, _ targets: inout [ActTarget]) {
    if let identity = node.actIdentity {
      targets.append(
        ActTarget(
          identity: identity, acts: node.ownActs, level: node.kind == .gauge ? node.value : nil))
    }
    for part in node.parts ?? [] {
      if let target = node.rowTarget(part) { targets.append(target) }
      collect(part, &targets)
    }
  }

  /// The parameters of a call of one of its acts; the room comes in addition.
  package func parameters(_ act: ScreenAct, _ given: JSONValue? = nil) -> [JSONName: JSONValue] {
    var parameters = act.parameters.objectValue ?? [:]
    if let name = act.parameter {
      let value: JSONValue? =
        switch act.input {
        case .row: row.map(JSONValue.string)
        case .numberedRow: row.flatMap(Int64.init).map(JSONValue.integer)
        case .level, .text, nil: given
        }
      if let value { parameters[JSONName(name)] = value }
    }
    return parameters
  }

  private static let reserved = Set("qzkjgnh")

  /// A key for each act: a letter of its label that has no other meaning.
  package var keys: [(key: Character, act: ScreenAct)] {
    var taken = Self.reserved
    return acts.map { act in
      let letters = Array(act.label.lowercased()) + Array("abcdefilmoprstuvwxy")
      let key = letters.first { $0.isASCII && $0.isLetter && !taken.contains($0) } ?? "?"
      taken.insert(key)
      return (key, act)
    }
  }
}

extension ScreenAct {
  fileprivate var isAboutRow: Bool { input == .row || input == .numberedRow }
}

extension ScreenNode {
  /// The acts of the node itself, not of the rows in it.
  var ownActs: [ScreenAct] { (acts ?? []).filter { !$0.isAboutRow } }
  var rowActs: [ScreenAct] { (acts ?? []).filter(\.isAboutRow) }

  /// The identity as an ``ActTarget``; `nil` if nothing can be done with the node itself.
  var actIdentity: String? {
    guard let act = ownActs.first else { return nil }
    // Flags are what an act changes, not what it is about.
    let about = (act.parameters.objectValue ?? [:]).filter { $0.value.boolValue == nil }
    return ([act.method] + about.map { "\($0.key)=\($0.value)" }.sorted()).joined(separator: " ")
  }

  /// A row of this list, if something can be done with it.
  func rowTarget(_ row: ScreenNode) -> ActTarget? {
    guard kind == .list, let id = row.id, !rowActs.isEmpty else { return nil }
    return ActTarget(identity: Self.rowIdentity(id), acts: rowActs, row: id)
  }

  static func rowIdentity(_ id: String) -> String { "row " + id }
}
