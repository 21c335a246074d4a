import Composable

/// Random commands to children.
struct RandomActs {
  static let sites: [Site] = [
    .optional, .sheet, .phase, .plain, .choice, .row(0), .row(1), .row(2),
  ]

  private let randomness: Randomness
  /// The last token.
  private(set) var token = 0

  init(_ randomness: Randomness) { self.randomness = randomness }

  /// Returns a number below `count`.
  func random(_ count: Int) -> Int { randomness.next(in: 0...(count - 1)) }

  func site() -> Site { Self.sites[random(Self.sites.count)] }

  /// Returns a time that no other effect has.
  mutating func time(_ milliseconds: Int) -> Int {
    token += 1
    return (1 + random(milliseconds)) * 1_000_000 + token * 131
  }

  mutating func newToken() -> Int {
    token += 1
    return token
  }

  /// Returns a change by another thread. Such changes are rare, because waiting for a thread takes
  /// long on a busy machine.
  private func meanwhile() -> Int? { random(20) == 0 ? random(8) : nil }

  private func added() -> Act {
    let meanwhile = meanwhile()
    // A negative value followed by another one is excluded, because it is undefined which one is
    // answered first.
    return .added((meanwhile == nil ? 1 : 4) + random(3), meanwhile: meanwhile)
  }

  mutating func next() -> Act {
    let id = random(2)
    return
      switch random(25)
    {
    case 0, 1:
      .work(
        token: token, delay: time(1_000), id: random(2) == 0 ? id : nil,
        cancelInFlight: random(2) == 0)
    case 2: .chain(token: token, delay: time(500), then: time(500))
    case 3: .timer(token: token, interval: time(600), id: id)
    case 4, 5, 6: .debounced(token: token, pause: time(400), delay: time(800))
    case 7, 8: .throttled(token: token, interval: Fuzzer.interval, delay: time(800))
    case 9: .pair(token: token, delay: time(500), endsInFeedback: random(2) == 0)
    case 10: .stubborn(token: token, delay: time(1_000), id: id)
    case 11: .failing(delay: time(800))
    case 12: .startedAndCancelled(token: token, delay: time(500), id: id)
    case 13: .escaping(token: token)
    case 14: random(4) == 0 ? .endless : .asked(token: token)
    case 15: .cancelled(id: [id, Name.debounce, Name.throttle, Name.limits][random(4)])
    case 16: random(2) == 0 ? .fedBack(token: token) : .left
    case 17, 18, 19: .shared(.join)
    case 20: .shared(.leave)
    case 21: .assigned(random(8) - 4, meanwhile: meanwhile())
    case 22: added()
    default: .startedAndGone(token: token, delay: time(500))
    }
  }
}
