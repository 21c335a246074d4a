import JSON
package import UnixSockets
package import Varlink
import VarlinkDescription

/// The daemon's implementation of `io.systemd.service`, the interface that manages services.
package protocol ManagedService: Sendable {
  /// Reloads and applies the configuration. If the new configuration is invalid, throws
  /// ``ReloadFailure``, and the old configuration stays in effect.
  func reload() async throws

  /// Sets the log level to a syslog severity from 0 to 7; 8 also logs messages below debug.
  func setLogLevel(_ level: Int)
}

/// The reason why a new configuration was refused.
package struct ReloadFailure: VarlinkErrorConvertible, Error, Equatable {
  package var message: String

  package init(message: String) { self.message = message }

  private static let name = "io.systemd.service.ReloadFailed"

  package var varlinkError: VarlinkError {
    VarlinkError(name: Self.name, parameters: ["message": .string(message)])
  }

  /// Converts a reload error received by a client to its typed form; fails for other errors.
  package init?(_ error: VarlinkError) {
    guard error.name == Self.name else { return nil }
    message = error.parameters["message"]?.stringValue ?? ""
  }
}

/// The interface `io.systemd.service` as defined by systemd, with one addition: the error of a
/// failed reload contains the reason.
package enum ServiceManagement {
  package static let name = "io.systemd.service"

  static let text = """
    # Manages this service.
    interface io.systemd.service

    # Checks whether the service answers.
    method Ping() -> ()

    # Reloads the configuration. Returns when it is in effect. Errors: ReloadFailed.
    # [Requires privileges]
    method Reload() -> ()

    # Sets the severity of the least severe messages that are logged.
    # [Requires privileges]
    method SetLogLevel(
      # A syslog severity from 0 (emergencies) to 7 (debugging); 8 for all messages.
      level: int
    ) -> ()

    # The configuration is invalid; the old one stays in effect.
    error ReloadFailed (
      # The location of the error, and the remedy.
      message: string
    )

    """

  /// Returns the interface for a `VarlinkServer`. Callers for whom `mayChange` returns false may
  /// use only `Ping`.
  package static func makeInterface(
    service: some ManagedService, mayChange: @escaping @Sendable (Peer) -> Bool
  ) throws -> Interface {
    var interface = Interface(try InterfaceDescription(parsing: text))
    interface.authorization = { call in
      guard call.method != "Ping" else { return }
      guard let peer = call.peer, mayChange(peer) else { throw ServiceError.permissionDenied }
    }
    try interface.handle("Ping") { (_, _: NoParameters) in NoParameters() }
    try interface.handle("Reload") { (_, _: NoParameters) in
      try await service.reload()
      return NoParameters()
    }
    try interface.handle("SetLogLevel") { (_, parameters: LevelParameters) in
      guard (0...8).contains(parameters.level) else { throw ServiceError.invalidParameter("level") }
      service.setLogLevel(parameters.level)
      return NoParameters()
    }
    return interface
  }
}

struct LevelParameters: Codable, Sendable { let level: Int }
