package import LiveEvents

// Acts on platforms are requests without a control. A newer act never replaces an older one, and an
// act is sent only once, because a platform carries out a repeated act twice.

extension Requests {
  /// The maximum number of acts without an outcome.
  package static let maximumActs = 64
  /// The maximum number of acts in ``endedActs``.
  package static let maximumEndedActs = 16

  /// An act that has ended.
  package struct EndedAct: Equatable, Sendable, Codable {
    /// The number of the request.
    package let number: Int
    /// The act, with the platform and the source of its controller.
    package let act: RequestedAct
    package let outcome: RequestOutcome

    package init(number: Int, act: RequestedAct, outcome: RequestOutcome) {
      (self.number, self.act, self.outcome) = (number, act, outcome)
    }
  }

  /// The reason why an act cannot become a request.
  package enum ActRefusal: Error, Equatable {
    case noController
    /// Each of these controllers can carry out the act, and the request does not choose one.
    case severalControllers([OfferedActs])
    case tooManyActs
  }

  /// What the connected controllers offer: for each platform and source, the offer of the newest
  /// controller.
  package var offers: [OfferedActs] { actors.compactMap(\.acts) }

  private var actors: [ConnectedController] {
    var actors: [ConnectedController] = []
    for controller in controllers {
      guard let acts = controller.acts else { continue }
      // A source that connects again is briefly connected twice.
      actors.removeAll { $0.acts?.platform == acts.platform && $0.acts?.source == acts.source }
      actors.append(controller)
    }
    return actors
  }

  /// Returns the controller for an act. A controller of the act's platform has priority over a
  /// controller that acts on any platform.
  package func controller(for act: RequestedAct) throws(ActRefusal) -> ConnectedController {
    let able = actors.filter { $0.acts?.isFor(act) == true }
    let named = able.filter { $0.acts?.platform == act.platform }
    let chosen = act.platform == nil || named.isEmpty ? able : named
    guard let controller = chosen.first else { throw .noController }
    guard chosen.count == 1 else { throw .severalControllers(chosen.compactMap(\.acts)) }
    guard outstanding.count(where: { $0.command.act != nil }) < Self.maximumActs else {
      throw .tooManyActs
    }
    return controller
  }

  /// Adds an act as a request to its controller.
  mutating func begin(_ act: RequestedAct) throws(ActRefusal) -> ControlRequest {
    let controller = try controller(for: act)
    var act = act
    act.platform = controller.acts?.platform ?? act.platform
    act.source = controller.acts?.source
    last += 1
    let request = ControlRequest(
      number: last, command: .act(act), controller: controller.number)
    outstanding.append(request)
    return request
  }

  /// Records that an act has ended.
  mutating func record(_ act: EndedAct) {
    endedActs = ((endedActs ?? []) + [act]).suffix(Self.maximumEndedActs)
  }
}

extension OfferedActs {
  /// Returns whether the controller can carry out the act, and fits the platform and the source
  /// that the act names.
  fileprivate func isFor(_ act: RequestedAct) -> Bool {
    kinds.contains(act.act.kind)
      && (act.platform == nil || platform == nil || platform == act.platform)
      && (act.source == nil || source == act.source)
  }
}

extension Requests.EndedAct: Bounded {
  package func checkBounds() throws(OutOfBounds) {
    try require(countable: number, in: "number")
    try check(act, "act")
    if case .refused(let reason) = outcome { try require(names: reason, in: "outcome") }
  }
}
