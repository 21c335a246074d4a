import Suggestions
import Yams

/// Keys and values of a YAML file, of which only known keys are taken.
struct Section {
  let cell: Cell
  private let entries: [(name: String, cell: Cell)]

  /// - Parameter known: the keys that mean something here; nil for any.
  init(_ cell: Cell, known: [String]?) throws(ScenarioError) {
    self.cell = cell
    guard let mapping = cell.node.mapping else { throw cell.problem("expected keys and values") }
    var entries: [(name: String, cell: Cell)] = []
    for (keyNode, value) in mapping {
      let name = keyNode.string ?? "?"
      let path = cell.key.map { "\($0).\(name)" } ?? name
      if let known, !known.contains(name) {
        throw ScenarioError(
          file: cell.file, line: keyNode.mark?.line, key: path,
          message: "unknown key" + Spelling.hint(for: name, among: known))
      }
      if entries.contains(where: { $0.name == name }) {
        throw ScenarioError(
          file: cell.file, line: keyNode.mark?.line, key: path, message: "stands here twice")
      }
      entries.append(
        (name, Cell(value, file: cell.file, key: path, keyLine: keyNode.mark?.line)))
    }
    self.entries = entries
  }

  var names: [String] { entries.map(\.name) }

  /// The value of a key; nil if it is not there.
  subscript(name: String) -> Cell? { entries.first { $0.name == name }?.cell }

  func required(_ name: String) throws(ScenarioError) -> Cell {
    guard let cell = self[name] else { throw problem(at: nil, "needs '\(name)'") }
    return cell
  }

  /// Something wrong with the section as a whole, told at one of its keys if given.
  func problem(at name: String?, _ message: String) -> ScenarioError {
    if let name, let cell = self[name] { return cell.problem(message) }
    return cell.problem(message)
  }

  /// Refuses each of `names` that is there.
  func refuse(_ names: [String], because reason: String) throws(ScenarioError) {
    for name in names where self[name] != nil { throw problem(at: name, reason) }
  }
}
