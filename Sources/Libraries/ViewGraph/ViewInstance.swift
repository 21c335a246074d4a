import Composable

/// One view on the screen: its last reads, its output and its child views.
final class ViewInstance {
  let id: ViewID
  let name: String
  let depth: Int
  /// The names of the fields of the view's state, for the reported causes.
  let fieldNames: [String]
  let node: ObservationNode
  /// Evaluates the body, or returns `nil` if the state does not exist.
  let body: (ViewContext, ReadRecorder) -> ViewNode?
  let earlierRows: () -> [ViewNode.ListRow]

  private(set) var reads: FieldSet = []
  private var readObserver: Observer?
  private var presenceObservers: [Int: Observer] = [:]
  private var structureObservers: [Int: Observer] = [:]

  /// The cause of the next evaluation, or `nil` if nothing that the view read has changed.
  var pendingCause: EvaluationCause?
  /// The actions that changed the fields of the pending cause.
  var pendingTriggers: [EvaluationTrigger] = []
  var lastFrame: UInt64 = 0
  var output: ViewNode?
  /// See ``ViewContext/kept(_:)``.
  var keptObject: AnyObject?
  var children: [ChildKey: ViewInstance] = [:]
  /// The cases of the elements that the view shows, by field.
  var cases: [Int: [KeyedSlot: Int]] = [:]

  init(
    id: ViewID, name: String, depth: Int, fieldNames: [String], node: ObservationNode,
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

  /// Observes the fields that were just read, unless they are the same as before.
  func observe(_ fields: FieldSet, onChange: @escaping (FieldSet) -> Void) {
    guard fields != reads || readObserver == nil else { return }
    readObserver?.cancel()
    reads = fields
    readObserver =
      fields.isEmpty
      ? nil
      : node.observe(fields) { [unowned self] fields in
        recordTriggers(readObserver?.causes ?? [], fields)
        onChange(fields)
      }
  }

  private func recordTriggers(_ causes: [ChangeCause], _ fields: FieldSet) {
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

  /// Observes changes of the elements or of the case in the fields of `structure`.
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

/// The identity of a child within its parent view: the field, the type of view, and an index among
/// children with equal fields and types.
struct ChildKey: Hashable {
  let field: Int
  let view: ObjectIdentifier
  var occurrence = 0
  /// The element, for a view of an element of a collection.
  var element: ElementKey?
  /// The tag of the case of an enum; 0 for other fields.
  var tag = 0
}

/// The identity of an element of a collection until it is removed.
struct ElementKey: Hashable {
  let id: AnyHashable
  let slot: KeyedSlot
}

struct PresenceRead {
  let node: ObservationNode
  let isPresent: Bool
}
