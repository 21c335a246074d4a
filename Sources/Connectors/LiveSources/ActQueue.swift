/// The acts that a source has accepted and that have no outcome yet. Some are in flight, the others
/// wait for their turn.
///
/// A platform may answer slowly, so the number of acts is bounded.
package struct ActQueue: Sendable {
  private let maximumInFlight: Int
  private let maximumWaiting: Int
  private var waiting: [ActRequest] = []
  /// The acts in flight, by identifier. The value is `true` if the room has withdrawn the act.
  private var inFlight: [String: Bool] = [:]

  /// - Parameters:
  ///   - maximumInFlight: The maximum number of acts that are carried out concurrently.
  ///   - maximumWaiting: The maximum number of acts that wait for their turn.
  package init(maximumInFlight: Int = 4, maximumWaiting: Int = 28) {
    self.maximumInFlight = maximumInFlight
    self.maximumWaiting = maximumWaiting
  }

  /// Adds an act. Returns `false` if the queue is full.
  package mutating func add(_ request: ActRequest) -> Bool {
    guard waiting.count < maximumWaiting else { return false }
    waiting.append(request)
    return true
  }

  /// Starts the oldest waiting act, which is in flight until ``end(_:)`` is called. Returns `nil`
  /// if no act may start.
  package mutating func next() -> ActRequest? {
    guard inFlight.count < maximumInFlight, !waiting.isEmpty else { return nil }
    let request = waiting.removeFirst()
    inFlight[request.identifier] = false
    return request
  }

  /// Ends an act that was in flight. Returns whether the room still waits for the act's outcome.
  package mutating func end(_ identifier: String) -> Bool {
    inFlight.removeValue(forKey: identifier) == false
  }

  /// Drops an act that the room has withdrawn. If the act is in flight, it continues, and its
  /// outcome is ignored.
  package mutating func withdraw(_ identifier: String) {
    waiting.removeAll { $0.identifier == identifier }
    if inFlight[identifier] != nil { inFlight[identifier] = true }
  }
}
