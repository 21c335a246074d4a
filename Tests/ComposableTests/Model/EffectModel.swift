import Composable

/// A model of the documented rules for effects. The model is as simple as possible and uses linear
/// search.
struct EffectModel {
  /// The identity of a child. A row is identified by the order of its insertion and by the lineage
  /// of its collection.
  enum Identity: Equatable {
    /// All children at this position count as the same child.
    case any
    case id(Int)
    case turn(Int, lineage: Int)
  }

  struct Child {
    var identity: Identity
    var log: [Int] = []
    var volume = 0
  }

  /// The shared volume after one of its changes.
  struct Volume {
    var value = 0
    var number = 0
  }

  enum Kind {
    case work(token: Int)
    case pair(token: Int, endsInFeedback: Bool)
    case stubborn(token: Int)
    case failing
    case chain(token: Int, then: Int)
    case timer(token: Int, interval: Int)
    /// Wakes a limiter.
    case wait(Int)
    /// Sends the changes of the shared volume.
    case listen
  }

  struct Running {
    var scope: Int
    var kind: Kind
    var deadline: Int
    /// The order in which effects began to sleep, which decides among equal wake-up times.
    var sleep: Int
    var ids: Set<Int>
    var origin: Int
    /// The changes that a listener has received but not sent: the first change and the newest.
    var told: [Volume] = []
  }

  struct Limiter {
    var pending: (token: Int, delay: Int)?
    var deadline = 0
    /// The end of a throttle's interval.
    var rest = 0
  }

  /// The effects of one child.
  struct Scope {
    let site: Site
    var identity: Identity
    var limiters: [Int: Limiter] = [:]
  }

  var now = 0
  var children: [Site: Child] = [:]
  var next: Int?
  var running: [Int: Running] = [:]
  var scopes: [Int: Scope] = [:]
  var lineage = 0
  var dropped = 0
  var failures = 0
  /// The number of effects whose `send` other code keeps after their end.
  var kept = 0
  var changes: [[Int?]] = []
  var volume = Volume()
  /// The number of times that each rule of the page applied.
  var reached: [String: Int] = [:]
  private var last = 0
  private var lastTurn = 0
  private var lastLineage = 0

  mutating func reach(_ rule: String) { reached[rule, default: 0] += 1 }

  private mutating func newNumber() -> Int {
    last += 1
    return last
  }

  // MARK: Scopes

  /// Returns whether the scope belongs to the current child.
  private mutating func isCurrent(_ number: Int) -> Bool {
    guard let scope = scopes[number] else { return false }
    guard var child = children[scope.site] else { return false }
    if case .turn(let turn, _) = child.identity { child.identity = .turn(turn, lineage: lineage) }
    if case .turn(_, let old) = scope.identity, old != lineage {
      if lineage != 0 { scopes[number]?.identity = child.identity }
      reach("elements of a new collection count as the same")
      return true
    }
    return scope.identity == child.identity
  }

  private mutating func end(_ number: Int) {
    scopes[number] = nil
    if running.values.contains(where: { $0.scope == number && $0.kind.isListening }) {
      reach("a removed child receives no further changes of a shared value")
    }
    running = running.filter { $0.value.scope != number }
  }

  /// Assigns a lineage to the rows, like the parent when it checks its rows.
  private mutating func look() {
    guard lineage == 0 else { return }
    lastLineage += 1
    lineage = lastLineage
  }

  private mutating func lookAtRows() {
    if scopes.values.contains(where: { if case .row = $0.site { true } else { false } }) { look() }
  }

  /// Ends the effects of removed or replaced children, like a parent after its action.
  private mutating func endGone() {
    lookAtRows()
    for number in scopes.keys.sorted() where !isCurrent(number) {
      let site = scopes[number]!.site
      if children[site] == nil {
        reach("effects end with their child")
      } else if site == .choice {
        reach("another case or payload of an enum is another child")
      } else {
        reach("effects end when the child is replaced")
      }
      end(number)
    }
  }

  private mutating func scope(at site: Site) -> Int {
    if case .row = site { look() }
    for number in scopes.keys.sorted() where scopes[number]?.site == site {
      if isCurrent(number) { return number }
      reach("a new child's effect ends the effects of the previous child")
      end(number)
    }
    var identity = children[site]!.identity
    if case .turn(let turn, _) = identity { identity = .turn(turn, lineage: lineage) }
    let number = newNumber()
    scopes[number] = Scope(site: site, identity: identity)
    return number
  }

  // MARK: Actions

  mutating func change(_ change: Change, isForeign: Bool) {
    if isForeign { endGone() } else { lookAtRows() }
    switch change {
    case .put(.row(let row), _):
      if children[.row(row)] == nil {
        lastTurn += 1
        children[.row(row)] = Child(identity: .turn(lastTurn, lineage: 0))
      }
    case .put(.plain, _):
      if children[.plain] != nil, scopes.values.contains(where: { $0.site == .plain }) {
        reach("a replaced child without an id counts as the same")
      }
      children[.plain] = Child(identity: .any)
    case .put(let site, let id): children[site] = Child(identity: .id(id))
    case .clear(let site): children[site] = nil
    case .renew(let row):
      if children[.row(row)] != nil {
        lastTurn += 1
        children[.row(row)] = Child(identity: .turn(lastTurn, lineage: 0))
        reach("a row is removed and re-added in one action")
      }
    case .replaceRows(let rows):
      for case .row(let row) in Array(children.keys) { children[.row(row)] = nil }
      for row in rows {
        lastTurn += 1
        children[.row(row)] = Child(identity: .turn(lastTurn, lineage: 0))
      }
      lineage = 0
    case .cancel(let site, let id):
      for number in scopes.keys where scopes[number]?.site == site {
        reach("a parent cancels an effect of a child")
        cancel(id, in: number)
      }
    }
    if !isForeign { endGone() }
  }

  mutating func plan(_ id: Int) {
    setNext(id)
    endGone()
  }

  private mutating func setNext(_ id: Int?) {
    if next == id {
      reach("assigning an equal value to shared state is not a change")
    } else {
      reach("a change is reported with the old and the new value")
      changes.append([next, id])
    }
    next = id
  }

  /// Sends an action by the `send` that an ended effect left behind.
  mutating func useKept() {
    kept -= 1
    failures += 1
    reach("an action of an effect that has ended is reported")
  }

  mutating func dismiss() {
    if children[.sheet] == nil {
      dropped += 1
      reach("a dismissal of an absent child is counted")
    }
    if let next {
      if children[.sheet] != nil {
        reach("a child presented during a dismissal stays")
        for number in scopes.keys where scopes[number]?.site == .sheet { end(number) }
      }
      children[.sheet] = Child(identity: .id(next))
    } else {
      children[.sheet] = nil
    }
    setNext(nil)
    endGone()
  }

  /// Reduces an action of a child and all follow-up actions.
  mutating func act(_ site: Site, _ act: Act, origin: Int = 0) {
    lookAtRows()
    guard children[site] != nil else {
      dropped += 1
      reach("an action for an absent child is counted")
      endGone()
      if case .asked(let token) = act { self.act(site, .got(token: token + 1), origin: origin) }
      return
    }
    if children[site]?.volume != volume.value {
      reach("an action begins with the newest shared value")
    }
    children[site]?.volume = volume.value
    var follow: [Act] = []
    var isDismissed = false
    var started: Int?
    switch act {
    case .work(let token, let delay, let id, let cancelInFlight):
      let scope = scope(at: site)
      if let id, cancelInFlight { cancel(id, in: scope) }
      start(scope, .work(token: token), delay, id.map { [$0] } ?? [], origin)
      started = scope
    case .startedAndGone(let token, let delay):
      started = scope(at: site)
      start(started!, .work(token: token), delay, [], origin)
      children[site] = nil
      reach("a child is removed by the action that starts its effect")
    case .chain(let token, let delay, let then):
      started = scope(at: site)
      start(started!, .chain(token: token, then: then), delay, [], origin)
    case .timer(let token, let interval, let id):
      started = scope(at: site)
      start(started!, .timer(token: token, interval: interval), interval, [id], origin)
    case .debounced(let token, let pause, let delay):
      debounce(scope(at: site), token, pause, delay, origin)
    case .throttled(let token, let interval, let delay):
      throttle(scope(at: site), token, interval, delay, origin)
    case .cancelled(let id):
      // A cancellation is also an effect of the child.
      cancel(id, in: scope(at: site))
    case .fedBack(let token):
      follow = [.got(token: token), .got(token: token + 1)]
      reach("follow-up actions are reduced immediately")
    case .pair(let token, let delay, let endsInFeedback):
      started = scope(at: site)
      start(started!, .pair(token: token, endsInFeedback: endsInFeedback), delay, [], origin)
    case .stubborn(let token, let delay, let id):
      started = scope(at: site)
      start(started!, .stubborn(token: token), delay, [id], origin)
    case .failing(let delay):
      started = scope(at: site)
      start(started!, .failing, delay, [], origin)
    case .startedAndCancelled(let token, let delay, let id):
      started = scope(at: site)
      start(started!, .work(token: token), delay, [id], origin)
      cancel(id, in: started!)
      reach("an effect that its own action cancels does not run")
    case .escaping:
      // The effect starts and ends. Like every effect of a child, this effect ends the effects of
      // the previous child.
      started = scope(at: site)
      kept += 1
    case .asked(let token):
      follow = [.got(token: token), .got(token: token + 1)]
      reach("an action sent while reducing comes after the follow-up actions")
    case .endless:
      failures += 1
      reach("an endless chain of actions is stopped")
    case .left:
      if site == .sheet {
        isDismissed = true
      } else {
        failures += 1
        reach("a dismissal without a presenting parent is reported")
      }
    case .got(let token): children[site]?.log.append(token)
    case .shared(let action): started = share(action, site, origin)
    case .assigned(let value, let meanwhile):
      let base = volume.value
      if let meanwhile { change(meanwhile) }
      assign(value, since: base)
      children[site]?.volume = volume.value
      follow = [.looked]
    case .added(let amount, let meanwhile):
      reach("a change of a shared value starts from the previous result")
      change(volume.value + amount)
      if let meanwhile {
        reach("a later change by another thread is not undone")
        change(meanwhile)
      }
      children[site]?.volume = volume.value
    case .looked: children[site]?.log.append(volume.value)
    }
    endGone()
    for act in follow { self.act(site, act, origin: origin) }
    if isDismissed { dismiss() }
  }

  // MARK: Shared values

  private mutating func share(_ action: SharedAction<Int>, _ site: Site, _ origin: Int) -> Int? {
    switch action {
    case .join:
      let scope = scope(at: site)
      running = running.filter { $0.value.scope != scope || !$0.value.kind.isListening }
      start(scope, .listen, .max - now, [], origin)
      return scope
    case .leave:
      let scope = scope(at: site)
      running = running.filter { $0.value.scope != scope || !$0.value.kind.isListening }
      return nil
    case .changed(let value, let version):
      if version < UInt64(volume.number) {
        reach("an outdated change finds the newer value")
      }
      children[site]?.log.append(volume.value)
      if value < 0 { assign(Subject.answer(to: value), since: volume.value) }
      children[site]?.volume = volume.value
      return nil
    }
  }

  /// Assigns `value` to a shared field of a child; the previous value of the field was `base`.
  private mutating func assign(_ value: Int, since base: Int) {
    guard value != base else { return reach("an equal value of a shared field is not shared") }
    reach("a change of a shared field is shared before the next action")
    if volume.value != base { reach("the last of several concurrent assignments is kept") }
    change(value)
  }

  /// Changes the shared value and notifies the listeners.
  mutating func change(_ value: Int) {
    guard volume.value != value else { return }
    volume = Volume(value: value, number: volume.number + 1)
    for (number, effect) in running where effect.kind.isListening {
      if effect.told.count == 2 {
        reach("of several changes only the newest is delivered")
        running[number]!.told[1] = volume
      } else {
        running[number]!.told.append(volume)
      }
    }
  }

  /// Lets the listeners send their changes, in the order in which they joined, until there are none
  /// left.
  mutating func listen() {
    var heard: Set<Int> = []
    while case let told = running.filter({ !$0.value.told.isEmpty }), !told.isEmpty {
      for number in told.keys { running[number]!.told = [] }
      for (number, effect) in told.sorted(by: { $0.key < $1.key }) {
        for volume in effect.told where running[number] != nil {
          hear(number, effect, volume)
          heard.insert(number)
        }
      }
    }
    let sites = heard.compactMap { running[$0].map { scopes[$0.scope]!.site } }
    if sites.count > 1, sites.allSatisfy({ children[$0]?.volume == volume.value }) {
      reach("in the end all joined features have the same value")
    }
  }

  private mutating func hear(_ number: Int, _ effect: Running, _ volume: Volume) {
    guard isCurrent(effect.scope) else {
      reach("a late result does not reach another child")
      return end(effect.scope)
    }
    if effect.told.count == 2 { reach("a joined feature gets changes in order") }
    act(
      scopes[effect.scope]!.site,
      .shared(.changed(volume.value, version: UInt64(volume.number))), origin: effect.origin)
  }

  private mutating func start(
    _ scope: Int, _ kind: Kind, _ delay: Int, _ ids: Set<Int>, _ origin: Int
  ) {
    let number = newNumber()
    running[number] = Running(
      scope: scope, kind: kind, deadline: now + delay, sleep: number, ids: ids, origin: origin)
  }

  private mutating func cancel(_ id: Int, in scope: Int) {
    for (number, effect) in running where effect.scope == scope && effect.ids.contains(id) {
      drop(number)
    }
  }

  private mutating func drop(_ number: Int) {
    guard let effect = running.removeValue(forKey: number) else { return }
    if case .wait(let limiter) = effect.kind {
      reach("a cancellation drops the held effect")
      scopes[effect.scope]?.limiters[limiter]?.pending = nil
    } else {
      reach("a cancellation ends running effects")
      if case .stubborn = effect.kind {
        reach("actions of a cancelled effect are dropped silently")
      }
      if running.values.contains(where: {
        $0.scope != effect.scope && !$0.ids.isDisjoint(with: effect.ids)
      }) {
        reach("an identifier is local to the child")
      }
    }
  }

  mutating func cancel(origin: Int) {
    for (number, effect) in running where effect.origin == origin {
      reach("a handle cancels effects")
      drop(number)
    }
  }

  // MARK: Limits

  private func wait(_ limiter: Int, in scope: Int) -> Int? {
    running.first { _, effect in
      if case .wait(limiter) = effect.kind { effect.scope == scope } else { false }
    }?.key
  }

  private mutating func debounce(
    _ scope: Int, _ token: Int, _ pause: Int, _ delay: Int, _ origin: Int
  ) {
    for (number, effect) in running
    where effect.scope == scope && effect.ids.contains(Name.debounce) {
      if case .wait = effect.kind { continue }
      reach("a debounce cancels the earlier effect")
      running[number] = nil
    }
    var limiter = scopes[scope]!.limiters[Name.debounce] ?? Limiter()
    limiter.pending = (token, delay)
    limiter.deadline = now + pause
    scopes[scope]!.limiters[Name.debounce] = limiter
    hold(Name.debounce, scope, origin, movesOrigin: true)
  }

  private mutating func throttle(
    _ scope: Int, _ token: Int, _ interval: Int, _ delay: Int, _ origin: Int
  ) {
    var limiter = scopes[scope]!.limiters[Name.throttle] ?? Limiter(rest: now)
    if now >= limiter.rest {
      limiter.rest = now + interval
      scopes[scope]!.limiters[Name.throttle] = limiter
      start(scope, .work(token: token), delay, [Name.throttle, Name.limits], origin)
      reach("a throttle runs the first effect")
    } else {
      limiter.pending = (token, delay)
      limiter.deadline = limiter.rest
      scopes[scope]!.limiters[Name.throttle] = limiter
      hold(Name.throttle, scope, origin, movesOrigin: true)
    }
  }

  private mutating func hold(_ limiter: Int, _ scope: Int, _ origin: Int, movesOrigin: Bool) {
    let deadline = scopes[scope]!.limiters[limiter]!.deadline
    if let number = wait(limiter, in: scope) {
      if movesOrigin { running[number]!.origin = origin }
      // A sleep that would end too late is restarted.
      if running[number]!.deadline > deadline { sleep(number, until: deadline) }
    } else {
      let number = newNumber()
      running[number] = Running(
        scope: scope, kind: .wait(limiter), deadline: deadline, sleep: number,
        ids: [limiter, Name.limits], origin: origin)
    }
  }

  // MARK: Time

  /// Advances time to `target`.
  mutating func advance(to target: Int) {
    while let (number, effect) = running.min(by: {
      ($0.value.deadline, $0.value.sleep) < ($1.value.deadline, $1.value.sleep)
    }), effect.deadline <= target {
      now = effect.deadline
      fire(number, effect)
    }
    now = target
  }

  private mutating func sleep(_ number: Int, until deadline: Int) {
    let sleep = newNumber()
    running[number]?.deadline = deadline
    running[number]?.sleep = sleep
  }

  private mutating func fire(_ number: Int, _ effect: Running) {
    if case .failing = effect.kind {
      failures += 1
      running[number] = nil
      return reach("an uncaught error is reported")
    }
    guard isCurrent(effect.scope) else {
      reach("a late result does not reach another child")
      return end(effect.scope)
    }
    let site = scopes[effect.scope]!.site
    switch effect.kind {
    case .failing: break
    case .pair(let token, let endsInFeedback):
      if endsInFeedback { act(site, .got(token: token + 2), origin: effect.origin) }
      act(site, .fedBack(token: token), origin: effect.origin)
      if !endsInFeedback { act(site, .got(token: token + 2), origin: effect.origin) }
      running[number] = nil
      reach("follow-up actions precede the next action of the effect")
      reach("the actions of an effect arrive in order")
    case .work(let token), .stubborn(let token):
      act(site, .got(token: token), origin: effect.origin)
      running[number] = nil
    case .chain(let token, let then):
      act(
        site, .work(token: token, delay: then, id: nil, cancelInFlight: false),
        origin: effect.origin)
      running[number] = nil
    case .timer(let token, let interval):
      act(site, .got(token: token), origin: effect.origin)
      sleep(number, until: effect.deadline + interval)
      reach("a timer ticks")
    case .wait(let name): wake(number, effect, name)
    case .listen: break
    }
  }

  private mutating func wake(_ number: Int, _ effect: Running, _ name: Int) {
    let limiter = scopes[effect.scope]!.limiters[name]!
    guard limiter.deadline <= now else {
      return sleep(number, until: limiter.deadline)
    }
    running[number] = nil
    guard let (token, delay) = limiter.pending else { return }
    scopes[effect.scope]!.limiters[name]!.pending = nil
    if name == Name.throttle {
      reach("a throttle runs the newest effect")
      // The interval belongs to the limiter and is the same for all limiters of a child.
      scopes[effect.scope]!.limiters[name]!.rest = now + Fuzzer.interval
    } else {
      reach("a debounce runs the newest effect")
    }
    start(
      effect.scope, .work(token: token), delay, [name, Name.limits], effect.origin)
  }
}

extension EffectModel.Kind {
  var isListening: Bool { if case .listen = self { true } else { false } }
}
