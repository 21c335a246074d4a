package import ControlInterface
package import JSON

/// An element of a screen that users can select, and for which they can perform host actions.
package struct ActTarget: Equatable, Sendable {
  /// The identity of the element, which stays the same when the displayed content changes.
  package var identity: String
  package var acts: [ScreenAct]
  /// The identity of the row, if the element is the row of a list.
  package var row: String?
  /// The level that the element shows, for a host action that sets the level.
  package var level: Double?
  /// The element itself.
  package var node: ScreenNode?

  package init(
    identity: String, acts: [ScreenAct], row: String? = nil, level: Double? = nil,
    node: ScreenNode? = nil
  ) {
    self.identity = identity
    self.acts = acts
    self.row = row
    self.level = level
    self.node = node
  }

  /// Returns the elements of a tree that offer host actions, in drawing order.
  package static func all(in node: ScreenNode) -> [ActTarget] {
    var targets: [ActTarget] = []
    collect(node, &targets)
    return targets
  }

  private static func collect(_ node: ScreenNode, _ targets: inout [ActTarget]) {
    if let identity = node.actIdentity {
      targets.append(
        ActTarget(
          identity: identity, acts: node.ownActs, level: node.kind == .gauge ? node.value : nil,
          node: node))
    }
    for part in node.parts ?? [] {
      if let target = node.rowTarget(part) { targets.append(target) }
      collect(part, &targets)
    }
  }

  /// Returns the parameters of the call that performs a host action with the level or text that the
  /// user entered. The caller adds the room.
  package func parameters(_ act: ScreenAct, _ value: JSONValue? = nil) -> [JSONName: JSONValue] {
    var parameters = act.parameters.objectValue ?? [:]
    if let name = act.parameter {
      let value: JSONValue? =
        switch act.input {
        case .row: row.map(JSONValue.string)
        case .numberedRow: row.flatMap(Int64.init).map(JSONValue.integer)
        case .level, .text, nil: value
        }
      if let value { parameters[JSONName(name)] = value }
    }
    if let name = act.text, let value { parameters[JSONName(name)] = value }
    return parameters
  }

  private static let reserved = Set("qzkjgnh")

  /// A key for each host action: a letter of its label that no other function uses.
  package var keys: [(key: Character, act: ScreenAct)] {
    var usedKeys = Self.reserved
    return acts.map { act in
      let letters = Array(act.label.lowercased()) + Array("abcdefilmoprstuvwxy")
      let key = letters.first { $0.isASCII && $0.isLetter && !usedKeys.contains($0) } ?? "?"
      usedKeys.insert(key)
      return (key, act)
    }
  }
}

extension ScreenAct {
  fileprivate var isAboutRow: Bool { input == .row || input == .numberedRow }
}

extension ScreenNode {
  /// The host actions of the node itself, without the host actions of its rows.
  var ownActs: [ScreenAct] { (acts ?? []).filter { !$0.isAboutRow } }
  var rowActs: [ScreenAct] { (acts ?? []).filter(\.isAboutRow) }

  var actIdentity: String? {
    guard let act = ownActs.first else { return nil }
    // Boolean parameters are excluded from the identity, because they hold the state that the host
    // action changes.
    let about = (act.parameters.objectValue ?? [:]).filter { $0.value.boolValue == nil }
    return ([act.method] + about.map { "\($0.key)=\($0.value)" }.sorted()).joined(separator: " ")
  }

  /// Returns a row of this list as a target; nil if the row offers no host actions. A host action
  /// for some groups of rows is offered only by the rows of these groups.
  func rowTarget(_ row: ScreenNode) -> ActTarget? {
    guard kind == .list, let id = row.id else { return nil }
    let acts = rowActs.filter { act in
      act.groups.map { groups in row.group.map(groups.contains) ?? false } ?? true
    }
    guard !acts.isEmpty else { return nil }
    return ActTarget(identity: Self.rowIdentity(id), acts: acts, row: id, node: row)
  }

  static func rowIdentity(_ id: String) -> String { "row " + id }
}
