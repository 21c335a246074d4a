import Composable

/// One view on the screen: what it read last, what it looks like, and the views below it.
final class ViewInstance {
  let id: ViewID
  let name: String
  let depth: Int
  /// Names of the fields of its state, for causes.
  let fieldNames: [String]
  /// The place of its state.
  let node: PlaceNode
  /// Evaluates the body; `nil` if the state is not there.
  let body: (ViewContext, ReadRecorder) -> ViewNode?
  let earlierRows: () -> [ViewNode.ListRow]

  private(set) var reads: FieldSet = []
  private var readObserver: Observer?
  private var presenceObservers: [Int: Observer] = [:]
  private var structureObservers: [Int: Observer] = [:]

  /// What changed since the last evaluation; `nil` if nothing that it read.
  var pendingCause: EvaluationCause?
  /// Which actions changed that.
  var pendingTriggers: [EvaluationTrigger] = []
  var lastFrame: UInt64 = 0
  var output: ViewNode?
  /// See ``ViewContext/kept(_:)``.
  var kept: AnyObject?
  var children: [ChildKey: ViewInstance] = [:]
  /// The cases of the elements that it shows, by field.
  var cases: [Int: [KeyedSlot: Int]] = [:]

  init(
    id: ViewID, name: String, depth: Int, fieldNames: [String], node: PlaceNode,
    body: @escaping (ViewContext, ReadRecorder) -> ViewNode?,
    earlierRows: @escaping () -> [ViewNode.ListRow]
  ) {
    self.id = id
    self.name = name
    self.depth = depth
    self.fieldNames = fieldNames
    self.node = node
    self.body = body
    self.earlierRows = earlierRows
  }

  /// Waits for changes of what was read now. Free if that is what was read before.
  func observe(_ fields: FieldSet, onChange: @escaping (FieldSet) -> Void) {
    guard fields != reads || readObserver == nil else { return }
    readObserver?.cancel()
    reads = fields
    readObserver =
      fields.isEmpty
      ? nil
      : node.observe(fields) { [unowned self] fields in
        note(readObserver?.causes ?? [], fields)
        onChange(fields)
      }
  }

  private func note(_ causes: [ChangeCause], _ fields: FieldSet) {
    for cause in causes {
      let action = node.actionName(cause.action)
      var rest = cause.fields.intersection(fields)
      while let index = rest.popFirst() {
        pendingTriggers.append(EvaluationTrigger(action: action, field: fieldName(index)))
      }
    }
  }

  func visit(_ body: (ViewID, String, ViewNode) -> Void) {
    if let output { body(id, name, output.prepending(earlierRows())) }
    for child in children.values.sorted(by: { $0.id < $1.id }) { child.visit(body) }
  }

  func collectReads(of view: String, into names: inout Set<String>) {
    if name == view {
      var rest = reads
      while let index = rest.popFirst() { names.insert(fieldName(index)) }
    }
    for child in children.values { child.collectReads(of: view, into: &names) }
  }

  func fieldName(_ index: Int) -> String {
    index < fieldNames.count ? fieldNames[index] : index == Evaluation.otherCase ? "(case)" : "?"
  }

  /// Waits for the coming and going of the optional children in `presence`.
  func observePresence(
    _ presence: [Int: PresenceRead], onChange: @escaping (Int) -> Void
  ) {
    for (index, observer) in presenceObservers where presence[index] == nil {
      observer.cancel()
      presenceObservers[index] = nil
    }
    for (index, read) in presence where presenceObservers[index] == nil {
      presenceObservers[index] = read.node.observePresence(isPresent: read.isPresent) {
        [unowned self] in
        for cause in presenceObservers[index]?.causes ?? [] {
          pendingTriggers.append(
            EvaluationTrigger(action: node.actionName(cause.action), field: fieldName(index)))
        }
        onChange(index)
      }
    }
  }

  /// Waits for other elements or another case in the fields of `structure`.
  func observeStructure(
    _ structure: [Int: (@escaping () -> Void) -> Observer], onChange: @escaping (Int) -> Void
  ) {
    for (index, observer) in structureObservers where structure[index] == nil {
      observer.cancel()
      structureObservers[index] = nil
    }
    for (index, observe) in structure where structureObservers[index] == nil {
      structureObservers[index] = observe { [unowned self] in
        for cause in structureObservers[index]?.causes ?? [] {
          pendingTriggers.append(
            EvaluationTrigger(action: node.actionName(cause.action), field: fieldName(index)))
        }
        onChange(index)
      }
    }
  }

  /// Leaves the screen, with everybody below.
  func remove() {
    for observer in structureObservers.values { observer.cancel() }
    structureObservers = [:]
    readObserver?.cancel()
    for observer in presenceObservers.values { observer.cancel() }
    for child in children.values { child.remove() }
    readObserver = nil
    presenceObservers = [:]
    children = [:]
    pendingCause = nil
    pendingTriggers = []
  }
}

/// Tells the children of a view apart: the field they show, the kind of view, and which of several.
struct ChildKey: Hashable {
  let field: Int
  let view: ObjectIdentifier
  var occurrence = 0
  /// Of a collection.
  var element: ElementKey?
  /// The case of an enum; 0 if the field is not one.
  var tag = 0
}

/// An element of a collection, until it leaves.
struct ElementKey: Hashable {
  let id: AnyHashable
  let slot: KeyedSlot
}

struct PresenceRead {
  let node: PlaceNode
  let isPresent: Bool
}
