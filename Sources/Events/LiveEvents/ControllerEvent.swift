/// Events about controllers, which carry out the requests of a control panel. Each controller has
/// its own number.
public enum ControllerEvent: Sendable, Hashable {
  /// A controller connected, for these controls; `nil` for all controls of the room.
  case began(surface: Int, controls: [Text]?)
  /// A controller disconnected, which ends its requests; `nil` for all controllers.
  case ended(surface: Int?)
  /// The program was restarted: no controller is connected yet, and requests wait for one.
  case restarted

  /// The maximum number of controls that a controller names.
  public static let maximumControls = 256
}

/// The outcome of a request to a controller.
public enum RequestOutcome: Sendable, Hashable, Codable {
  case confirmed
  /// The request was not carried out, for this reason.
  case refused(reason: String)
}
