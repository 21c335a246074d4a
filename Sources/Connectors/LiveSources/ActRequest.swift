package import LiveEvents

/// An act that a room asks a source to carry out on its platform.
package struct ActRequest: Equatable, Sendable {
  /// The identifier with which the source reports the outcome.
  package var identifier: String
  package var act: PlatformAct

  package init(identifier: String, act: PlatformAct) {
    self.identifier = identifier
    self.act = act
  }
}

extension RequestOutcome {
  /// The outcome of an act that may have been carried out. Such an act must not be repeated.
  package static func unknown(_ reason: String) -> RequestOutcome {
    .refused(reason: "the outcome is unknown: \(reason)")
  }
}
