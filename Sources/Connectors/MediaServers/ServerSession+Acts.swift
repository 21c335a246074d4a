package import LiveEvents
package import LiveSources
package import RateLimiting

/// Schedules the room's acts. Each is sent to the server once: an act whose request fails may have
/// been carried out nevertheless.
extension ServerSession {
  package mutating func carryOut(_ request: ActRequest, at now: Instant) {
    guard offeredActs.contains(request.act.kind) else {
      return refuse(request, "the server cannot carry out this act")
    }
    guard acts.add(request) else { return refuse(request, "the server answers too slowly") }
    startActs()
  }

  private mutating func refuse(_ request: ActRequest, _ reason: String) {
    effects.append(.outcome(request: request.identifier, .refused(reason: reason)))
  }

  private mutating func startActs() {
    while let request = acts.next() { effects.append(.carryOut(request)) }
  }

  /// Ends an act that was sent to the server.
  package mutating func carriedOut(_ identifier: String, _ outcome: RequestOutcome) {
    if acts.end(identifier) { effects.append(.outcome(request: identifier, outcome)) }
    startActs()
  }

  package mutating func withdraw(_ identifier: String) { acts.withdraw(identifier) }

  package mutating func setControllerProblem(_ problem: String?, at now: Instant) {
    controllerProblem = problem
    if lastHeard != nil, failure == nil { setLive(watched, at: now) }
  }
}
