package import NIOCore
package import RateLimiting

/// The decisions of a source: a state machine that receives each input together with the time, and
/// returns effects.
package protocol SourceSession {
  associatedtype Effect
  /// The effects to perform, in order.
  var effects: [Effect] { get set }
  /// The number of forwarded events, and the number of copies that were dropped.
  var forwarded: Int { get }
  var duplicates: Int { get }
  /// The time of the next call of ``wake(at:)``. `nil` while the session waits only for other
  /// inputs.
  var deadline: Instant? { get }

  mutating func wake(at now: Instant)
}

extension SourceSession {
  package var duplicates: Int { 0 }

  /// Removes and returns the effects to perform, in order. Call this after every other method.
  package mutating func takeEffects() -> [Effect] {
    guard !effects.isEmpty else { return [] }
    defer { effects = [] }
    return effects
  }
}

/// A session that carries out a room's acts on its platform.
package protocol ActingSession: SourceSession {
  /// Carries out an act. An effect reports the outcome, unless the act is withdrawn before.
  mutating func carryOut(_ request: ActRequest, at now: Instant)
  /// Drops an act that the room has withdrawn. An act that has been sent to the platform continues,
  /// and its outcome is ignored.
  mutating func withdraw(_ identifier: String)
  /// Records the reason why no requests arrive from the room, or, with `nil`, that requests can
  /// arrive.
  mutating func setControllerProblem(_ problem: String?, at now: Instant)
}

/// A source that performs the effects of a session.
package protocol SessionSource: LiveSource {
  associatedtype Session: SourceSession
  var session: Session { get set }
  var timer: SourceTimer { get }
  var eventLoop: any EventLoop { get }

  func perform(_ effect: Session.Effect)
  /// Called once all effects of an input are performed.
  func performedAll()
}

extension SessionSource {
  package var forwarded: Int { session.forwarded }
  package var duplicates: Int { session.duplicates }

  package func performedAll() {}

  /// Passes an input to the session and performs its effects.
  package func advance(_ body: (inout Session, Instant) -> Void) {
    guard !timer.isStopped else { return }
    body(&session, SourceDelivery.now)
    settle()
  }

  /// Performs the effects of the session, and waits for its deadline.
  package func settle() {
    while case let effects = session.takeEffects(), !effects.isEmpty {
      for effect in effects { perform(effect) }
    }
    performedAll()
    timer.set(session.deadline, on: eventLoop) { [self] in advance { $0.wake(at: $1) } }
  }
}

extension SessionSource where Session: ActingSession {
  /// Passes the acts that `requests` receives to the session.
  package func receiveActs(from requests: RoomRequests) {
    requests.act = { [weak self] request in self?.advance { $0.carryOut(request, at: $1) } }
    requests.withdrawn = { [weak self] identifier in
      self?.advance { session, _ in session.withdraw(identifier) }
    }
    requests.changed = { [weak self] problem in
      self?.advance { $0.setControllerProblem(problem, at: $1) }
    }
  }
}
