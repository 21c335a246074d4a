/// A model of compositions of effects. The model is as simple as possible and uses linear search.
struct TreeModel {
  /// An identifier and the scope to which it belongs.
  struct Mark: Hashable {
    let scope: TreePosition
    let id: Int
  }

  /// Effects that run in sequence.
  final class Sequence {
    var rest: ArraySlice<EffectTree>
    let (place, scope, marks, origin): (TreePosition, TreePosition, Set<Mark>, Int)
    let parent: Sequence?
    /// Whether one of its parts is being performed.
    var isPerforming = false
    var isOver = false

    init(_ trees: [EffectTree], _ context: Context) {
      rest = trees[...]
      (place, scope, marks) = (context.place, context.scope, context.marks)
      (origin, parent) = (context.origin, context.sequence)
    }
  }

  /// The context of an effect.
  struct Context {
    var place: TreePosition
    var scope: TreePosition
    var marks: Set<Mark> = []
    var sequence: Sequence?
    var origin = 0
  }

  enum Kind {
    case work(EffectTree.Work)
    case wait(Mark)
  }

  struct Running {
    let kind: Kind
    var context: Context
    var deadline: Int
    /// The order of starting, which decides among effects that are due at the same time.
    let number: Int
  }

  struct Limiter {
    var held: (tree: EffectTree, context: Context, deadline: Int)?
    var interval = 0
    /// The end of the interval that began with the last effect that was run.
    var rest = 0
  }

  var now = 0
  var rows: Set<Int> = []
  var log: [String] = []
  var failures = 0
  private(set) var running: [Running] = []
  private var limiters: [Mark: Limiter] = [:]
  private var sequences: [Sequence] = []
  private var sent: [(told: EffectTree.Told, context: Context)] = []
  private var lastNumber = 0
  /// The number of times that each rule applied.
  private(set) var reached: [String: Int] = [:]

  private mutating func reach(_ rule: String) { reached[rule, default: 0] += 1 }

  // MARK: Actions

  mutating func send(_ tree: EffectTree, at place: TreePosition, origin: Int) {
    perform(tree, Context(place: place, scope: place.scope, origin: origin))
    reduceSent()
  }

  mutating func remove(row: Int) {
    guard rows.remove(row) != nil else { return }
    let scopes: Set<TreePosition> = [.row(row), .rowTwig(row)]
    for effect in running where scopes.contains(effect.context.scope) {
      if effect.context.sequence != nil { reach("removing a child ends its sequence") }
      cancel(effect)
    }
    limiters = limiters.filter { !scopes.contains($0.key.scope) }
  }

  mutating func cancel(origin: Int) {
    for effect in running where effect.context.origin == origin { cancel(effect) }
  }

  /// Reduces an action and its follow-up actions.
  private mutating func reduceSent() {
    while !sent.isEmpty {
      let (told, context) = sent.removeFirst()
      log.append("\(context.place) \(told.token)")
      guard let reaction = told.reaction else { continue }
      perform(
        reaction, Context(place: context.place, scope: context.place.scope, origin: context.origin))
    }
  }

  /// Reduces an action of an effect. All follow-up actions precede the next action of the effect.
  private mutating func arrive(_ actions: [(told: EffectTree.Told, context: Context)]) {
    for action in actions {
      sent = [action]
      reduceSent()
    }
  }

  // MARK: Effects

  private mutating func perform(_ tree: EffectTree, _ context: Context) {
    var context = context
    switch tree {
    case .send(let told): sent.append((told, context))
    case .run(let work): start(.work(work), until: now + work.delay, context)
    case .cancel(let id): cancel(Mark(scope: context.scope, id: id))
    case .merge(let trees): for tree in trees { perform(tree, context) }
    case .concatenate(let trees):
      let sequence = Sequence(trees, context)
      sequences.append(sequence)
      advance(sequence)
    case .cancellable(let tree, let id, let cancelInFlight):
      let mark = Mark(scope: context.scope, id: id)
      if cancelInFlight { cancel(mark) }
      context.marks.insert(mark)
      perform(tree, context)
    case .debounce(let tree, let id, let pause): debounce(tree, id, pause, context)
    case .throttle(let tree, let id, let interval): throttle(tree, id, interval, context)
    case .composed(let tree):
      context.place = context.place.composed
      perform(tree, context)
    case .element(let element, let tree):
      context.place = .twig(element)
      context.scope = .twig(element)
      perform(tree, context)
    }
  }

  private mutating func start(_ kind: Kind, until deadline: Int, _ context: Context) {
    lastNumber += 1
    running.append(
      Running(kind: kind, context: context, deadline: deadline, number: lastNumber))
  }

  private mutating func cancel(_ mark: Mark) {
    for effect in running where effect.context.marks.contains(mark) {
      if effect.context.sequence != nil { reach("a cancelled part ends its sequence") }
      if effect.context.scope != mark.scope { reach("an identifier covers nested children") }
      cancel(effect)
    }
  }

  private mutating func cancel(_ effect: Running) {
    running.removeAll { $0.number == effect.number }
    if case .wait(let limiter) = effect.kind { limiters[limiter]?.held = nil }
    interrupt(effect.context.sequence)
  }

  // MARK: Sequences

  private mutating func advance(_ sequence: Sequence) {
    while !sequence.isOver, let tree = sequence.rest.popFirst() {
      sequence.isPerforming = true
      perform(
        tree,
        Context(
          place: sequence.place, scope: sequence.scope, marks: sequence.marks, sequence: sequence,
          origin: sequence.origin))
      sequence.isPerforming = false
      if isBusy(sequence) { return }
    }
    guard !sequence.isOver else { return }
    sequence.isOver = true
    sequences.removeAll { $0 === sequence }
    if let parent = sequence.parent { settle(parent) }
  }

  /// Returns whether something in the current part has not ended.
  private func isBusy(_ sequence: Sequence) -> Bool {
    sequence.isPerforming || running.contains { $0.context.sequence === sequence }
      || sequences.contains { $0.parent === sequence && !$0.isOver }
  }

  /// Continues if the part has ended.
  private mutating func settle(_ sequence: Sequence) {
    guard !sequence.isOver, !isBusy(sequence) else { return }
    reach("the next part begins when the previous part has ended completely")
    advance(sequence)
  }

  private mutating func interrupt(_ sequence: Sequence?) {
    guard let sequence, !sequence.isOver else { return }
    sequence.isOver = true
    sequences.removeAll { $0 === sequence }
    interrupt(sequence.parent)
  }

  // MARK: Limits

  private mutating func debounce(_ tree: EffectTree, _ id: Int, _ pause: Int, _ context: Context) {
    let mark = Mark(scope: context.scope, id: id)
    for effect in running where effect.context.marks.contains(mark) {
      if case .wait(mark) = effect.kind { continue }
      reach("a debounce cancels the earlier effect")
      cancel(effect)
    }
    if pause <= 0 { reach("a pause of zero ends immediately") }
    hold(tree, mark, until: now + max(0, pause), context)
  }

  private mutating func throttle(
    _ tree: EffectTree, _ id: Int, _ interval: Int, _ context: Context
  ) {
    let mark = Mark(scope: context.scope, id: id)
    var limiter = limiters[mark] ?? Limiter(rest: now)
    limiter.interval = max(0, interval)
    if limiter.held == nil, limiter.rest <= now {
      limiter.rest = now + limiter.interval
      limiters[mark] = limiter
      var context = context
      context.marks.insert(mark)
      if interval <= 0 { reach("an interval of zero runs every effect") }
      perform(tree, context)
    } else {
      limiters[mark] = limiter
      hold(tree, mark, until: limiter.rest, context)
    }
  }

  private mutating func hold(
    _ tree: EffectTree, _ mark: Mark, until deadline: Int, _ context: Context
  ) {
    var context = context
    context.marks.insert(mark)
    var limiter = limiters[mark] ?? Limiter()
    let isThrottle = mark.id >= TreeFuzzer.throttles.lowerBound
    if let held = limiter.held {
      if context.sequence != nil || held.context.sequence != nil {
        reach("a limit ends the sequence of a dropped effect")
      }
      if isThrottle, !EffectTree.keepsLatest(mark.id) { return interrupt(context.sequence) }
      interrupt(held.context.sequence)
    }
    limiter.held = (tree, context, deadline)
    limiters[mark] = limiter
    wait(mark, until: deadline, context)
  }

  /// Waits for the deadline of a limiter. Uses the current wait if it ends early enough and has the
  /// same identifiers.
  private mutating func wait(_ limiter: Mark, until deadline: Int, _ context: Context) {
    let index = running.firstIndex { if case .wait(limiter) = $0.kind { true } else { false } }
    if let index {
      if running[index].context.marks == context.marks, running[index].deadline <= deadline {
        running[index].context = context
        return
      }
      running.remove(at: index)
    }
    start(.wait(limiter), until: deadline, context)
  }

  // MARK: Time

  mutating func advance(to target: Int) {
    while let next = running.min(by: { ($0.deadline, $0.number) < ($1.deadline, $1.number) }),
      next.deadline <= target
    {
      now = next.deadline
      fire(next)
    }
    now = target
  }

  private mutating func fire(_ effect: Running) {
    switch effect.kind {
    case .work(let work): end(effect, work)
    case .wait(let limiter):
      running.removeAll { $0.number == effect.number }
      wake(effect, limiter)
    }
    arrive(takeSent())
  }

  private mutating func takeSent() -> [(told: EffectTree.Told, context: Context)] {
    defer { sent = [] }
    return sent
  }

  private mutating func end(_ effect: Running, _ work: EffectTree.Work) {
    let sequence = effect.context.sequence
    switch work.outcome {
    case .sends, .handlesError:
      arrive([(work.told, effect.context)])
      // An action of the effect itself may have cancelled the effect.
      guard running.contains(where: { $0.number == effect.number }) else { return }
    case .fails:
      failures += 1
      if sequence != nil { reach("an error ends its sequence") }
      interrupt(sequence)
    case .throwsCancellation: interrupt(sequence)
    }
    running.removeAll { $0.number == effect.number }
    if let sequence { settle(sequence) }
  }

  private mutating func wake(_ effect: Running, _ mark: Mark) {
    guard let held = limiters[mark]?.held else { return }
    guard held.deadline <= now else {
      return start(effect.kind, until: held.deadline, effect.context)
    }
    limiters[mark]!.held = nil
    limiters[mark]!.rest = now + limiters[mark]!.interval
    held.context.sequence?.isPerforming = true
    perform(held.tree, held.context)
    held.context.sequence?.isPerforming = false
    if let sequence = held.context.sequence { settle(sequence) }
  }
}
