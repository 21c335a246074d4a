import Composable

/// The documented life of effects, in the plainest way: lists, searched from end to end.
struct EffectModel {
  /// Which child it is. Rows are told apart by their turn in one lineage of the collection.
  enum Identity: Equatable {
    /// All children there are the same one.
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
    /// Of those that wake at the same time, the one comes first that went to sleep first.
    var sleep: Int
    var ids: Set<Int>
    var origin: Int
    /// What a listener was told and has not sent yet: the first of the changes and the newest.
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
  /// How many effects left their `send` to somebody else.
  var kept = 0
  var changes: [[Int?]] = []
  var volume = Volume()
  /// How often each rule of the page applied.
  var reached: [String: Int] = [:]
  private var last = 0
  private var lastTurn = 0
  private var lastLineage = 0

  mutating func note(_ rule: String) { reached[rule, default: 0] += 1 }

  private mutating func newNumber() -> Int {
    last += 1
    return last
  }

  // MARK: Scopes

  /// Whether the scope belongs to the child that is there.
  private mutating func isCurrent(_ number: Int) -> Bool {
    guard let scope = scopes[number] else { return false }
    guard var child = children[scope.site] else { return false }
    if case .turn(let turn, _) = child.identity { child.identity = .turn(turn, lineage: lineage) }
    if case .turn(_, let old) = scope.identity, old != lineage {
      if lineage != 0 { scopes[number]?.identity = child.identity }
      note("elements of another collection are the same")
      return true
    }
    return scope.identity == child.identity
  }

  private mutating func end(_ number: Int) {
    scopes[number] = nil
    if running.values.contains(where: { $0.scope == number && $0.kind.isListening }) {
      note("listening ends with the child")
    }
    running = running.filter { $0.value.scope != number }
  }

  /// Gives the rows a lineage, as their parent does when it looks at them.
  private mutating func look() {
    guard lineage == 0 else { return }
    lastLineage += 1
    lineage = lastLineage
  }

  private mutating func lookAtRows() {
    if scopes.values.contains(where: { if case .row = $0.site { true } else { false } }) { look() }
  }

  /// Ends the effects of children that went or became others, as a parent does behind its action.
  private mutating func endGone() {
    lookAtRows()
    for number in scopes.keys.sorted() where !isCurrent(number) {
      let site = scopes[number]!.site
      if children[site] == nil {
        note("effects end with their child")
      } else if site == .choice {
        note("another case or payload of an enum is another child")
      } else {
        note("effects end when another child comes")
      }
      end(number)
    }
  }

  private mutating func scope(at site: Site) -> Int {
    if case .row = site { look() }
    for number in scopes.keys.sorted() where scopes[number]?.site == site {
      if isCurrent(number) { return number }
      note("a new child's effect ends those of the one before")
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
        note("a child without an id stays the same when it is replaced")
      }
      children[.plain] = Child(identity: .any)
    case .put(let site, let id): children[site] = Child(identity: .id(id))
    case .clear(let site): children[site] = nil
    case .renew(let row):
      if children[.row(row)] != nil {
        lastTurn += 1
        children[.row(row)] = Child(identity: .turn(lastTurn, lineage: 0))
        note("a row comes back in one action")
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
        note("a parent cancels in a child")
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
      note("an assignment of an equal value is no change")
    } else {
      note("a change is told with the old value and the new one")
      changes.append([next, id])
    }
    next = id
  }

  /// Somebody sends what an effect left behind.
  mutating func useKept() {
    kept -= 1
    failures += 1
    note("an action of an effect that has ended is reported")
  }

  mutating func dismiss() {
    if children[.sheet] == nil {
      dropped += 1
      note("a dismissal of an absent child is counted")
    }
    if let next {
      if children[.sheet] != nil {
        note("a child put there at a dismissal stays")
        for number in scopes.keys where scopes[number]?.site == .sheet { end(number) }
      }
      children[.sheet] = Child(identity: .id(next))
    } else {
      children[.sheet] = nil
    }
    setNext(nil)
    endGone()
  }

  /// An action of a child, and all that follows from it at once.
  mutating func act(_ site: Site, _ act: Act, origin: Int = 0) {
    lookAtRows()
    guard children[site] != nil else {
      dropped += 1
      note("an action without child is counted")
      endGone()
      if case .asked(let token) = act { self.act(site, .got(token: token + 1), origin: origin) }
      return
    }
    if children[site]?.volume != volume.value {
      note("an action begins with the newest shared value")
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
      note("a child goes with the action that starts its effect")
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
      // A cancellation is an effect of the child, too.
      cancel(id, in: scope(at: site))
    case .fedBack(let token):
      follow = [.got(token: token), .got(token: token + 1)]
      note("feedback comes at once")
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
      note("an effect that its own action cancels does not run")
    case .escaping:
      // It starts and ends. Like all effects of a child it ends those of the child before.
      started = scope(at: site)
      kept += 1
    case .asked(let token):
      follow = [.got(token: token), .got(token: token + 1)]
      note("what is sent while an action is reduced comes behind what follows from it")
    case .endless:
      failures += 1
      note("actions that follow from each other without end are stopped")
    case .left:
      if site == .sheet {
        isDismissed = true
      } else {
        failures += 1
        note("a dismissal that no parent presents is reported")
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
      note("a change of a shared value sees what the one before it left")
      change(volume.value + amount)
      if let meanwhile {
        note("what another thread changes behind a change is not undone")
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
        note("a change that was overtaken finds the newer one")
      }
      children[site]?.log.append(volume.value)
      if value < 0 { assign(Subject.answer(to: value), since: volume.value) }
      children[site]?.volume = volume.value
      return nil
    }
  }

  /// A child assigns to its field, which was `base`.
  private mutating func assign(_ value: Int, since base: Int) {
    guard value != base else { return note("a shared field that is left equal is not shared") }
    note("a change of a shared field is shared before the next action")
    if volume.value != base { note("of assignments by several threads the last one stays") }
    change(value)
  }

  /// Changes the shared value and tells those who listen.
  mutating func change(_ value: Int) {
    guard volume.value != value else { return }
    volume = Volume(value: value, number: volume.number + 1)
    for (number, effect) in running where effect.kind.isListening {
      if effect.told.count == 2 {
        note("of several changes the newest is got")
        running[number]!.told[1] = volume
      } else {
        running[number]!.told.append(volume)
      }
    }
  }

  /// Those who listen send what they were told, in the order in which they joined, until there is nothing
  /// new.
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
      note("in the end all who joined have the same value")
    }
  }

  private mutating func hear(_ number: Int, _ effect: Running, _ volume: Volume) {
    guard isCurrent(effect.scope) else {
      note("a late result does not reach another child")
      return end(effect.scope)
    }
    if effect.told.count == 2 { note("who has joined gets changes in their order") }
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
      note("a cancellation drops what is held back")
      scopes[effect.scope]?.limiters[limiter]?.pending = nil
    } else {
      note("a cancellation ends what runs")
      if case .stubborn = effect.kind {
        note("what a cancelled effect sends is dropped in silence")
      }
      if running.values.contains(where: {
        $0.scope != effect.scope && !$0.ids.isDisjoint(with: effect.ids)
      }) {
        note("an identifier is the child's own")
      }
    }
  }

  mutating func cancel(origin: Int) {
    for (number, effect) in running where effect.origin == origin {
      note("a handle cancels")
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
      note("a debounce ends what it let through")
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
      note("a throttle lets the first through")
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
      // A sleep that would end too late starts again.
      if running[number]!.deadline > deadline { sleep(number, until: deadline) }
    } else {
      let number = newNumber()
      running[number] = Running(
        scope: scope, kind: .wait(limiter), deadline: deadline, sleep: number,
        ids: [limiter, Name.limits], origin: origin)
    }
  }

  // MARK: Time

  /// Lets time pass until `target`.
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
      return note("an error that is not caught is reported")
    }
    guard isCurrent(effect.scope) else {
      note("a late result does not reach another child")
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
      note("what an action leads to comes before the next one of its effect")
      note("the actions of an effect come in their order")
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
      note("a timer ticks")
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
      note("a throttle lets the newest through")
      // The interval is that of the limiter, which is the same for all of a child's.
      scopes[effect.scope]!.limiters[name]!.rest = now + Fuzzer.interval
    } else {
      note("a debounce lets the newest through")
    }
    start(
      effect.scope, .work(token: token), delay, [name, Name.limits], effect.origin)
  }
}

extension EffectModel.Kind {
  var isListening: Bool { if case .listen = self { true } else { false } }
}
