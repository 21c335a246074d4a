import JSON
package import UnixSockets
package import Varlink
import VarlinkDescription

/// What the daemon does for `io.systemd.service`, the interface by which services are managed.
package protocol ManagedService: Sendable {
  /// Reads the configuration again and puts it in force; the old one stays if it is wrong.
  /// - Throws: ``ReloadFailure``.
  func reload() async throws

  /// Changes the level of the running log, as syslog counts: 0 to 7, and 8 for more than debugging.
  func setLogLevel(_ level: Int)
}

/// Why a new configuration was refused.
package struct ReloadFailure: VarlinkErrorConvertible, Error, Equatable {
  package var message: String

  package init(message: String) { self.message = message }

  private static let name = "io.systemd.service.ReloadFailed"

  package var varlinkError: VarlinkError {
    VarlinkError(name: Self.name, parameters: ["message": .string(message)])
  }

  /// The typed form of a received error; nil if it is another one.
  package init?(_ error: VarlinkError) {
    guard error.name == Self.name else { return nil }
    message = error.parameters["message"]?.stringValue ?? ""
  }
}

/// `io.systemd.service`, as systemd's own services have it, with the reason of a failed reload.
package enum ServiceManagement {
  package static let name = "io.systemd.service"

  static let text = """
    # Manages this service.
    interface io.systemd.service

    # Checks whether the service answers.
    method Ping() -> ()

    # Reads the configuration again. Returns when it is in force. Errors: ReloadFailed.
    # [Requires privileges]
    method Reload() -> ()

    # Changes the least severe messages that are logged.
    # [Requires privileges]
    method SetLogLevel(
      # As syslog counts: 0 (emergencies) to 7 (debugging); 8 for all.
      level: int
    ) -> ()

    # The configuration is wrong; the old one stays in force.
    error ReloadFailed (
      # Where, and what to do.
      message: string
    )

    """

  /// The interface with its handlers, for a `VarlinkServer`.
  ///
  /// - Parameter mayChange: whether a caller may use any method but `Ping`.
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
