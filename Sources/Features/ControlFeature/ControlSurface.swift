import Composable
package import LiveEvents

/// The way to whoever drives the real controls of a room.
package struct ControlSurface: DependencyValue {
  /// Has a request carried out, and returns the outcome. To cancel it voids the request.
  package var carryOut: @Sendable (ControlRequest) async throws -> RequestOutcome
  /// How long an outcome is waited for.
  package var patience: @Sendable () -> Duration

  package init(
    patience: @escaping @Sendable () -> Duration,
    carryOut: @escaping @Sendable (ControlRequest) async throws -> RequestOutcome
  ) {
    self.patience = patience
    self.carryOut = carryOut
  }

  /// A room without connections to the world: nobody is there, so nothing is ever asked.
  package static var live: ControlSurface {
    ControlSurface(patience: { .seconds(5) }) { _ in
      .refused(reason: ControlRequest.surfaceLeft)
    }
  }
}
