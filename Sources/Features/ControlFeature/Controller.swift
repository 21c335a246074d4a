import Composable
package import LiveEvents

/// The connection to the controller that drives the real controls of a room.
package struct Controller: DependencyValue {
  /// Sends a request to its controller, and returns the outcome. Cancelling the task withdraws the
  /// request.
  package var carryOut: @Sendable (ControlRequest) async throws -> RequestOutcome
  /// Returns how long to wait for an outcome.
  package var patience: @Sendable () -> Duration

  package init(
    patience: @escaping @Sendable () -> Duration,
    carryOut: @escaping @Sendable (ControlRequest) async throws -> RequestOutcome
  ) {
    self.patience = patience
    self.carryOut = carryOut
  }

  /// The dependency of a room without external connections: no controllers, so no requests.
  package static var live: Controller {
    Controller(patience: { .seconds(5) }) { _ in
      .refused(reason: ControlRequest.controllerLeft)
    }
  }
}
