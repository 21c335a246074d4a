/// Events about controllers, which carry out the requests of a control panel and are identified by
/// unique numbers.
public enum ControllerEvent: Sendable, Hashable {
  /// A controller connected for these controls; `nil` means all controls of the room.
  case began(controller: Int, controls: [Text]?)
  /// The controller with this number disconnected, which ends its requests; `nil` means every
  /// controller.
  case ended(controller: Int?)
  /// The daemon restarted. Requests wait for a controller, because none is connected yet.
  case restarted

  /// The maximum number of controls that a controller names.
  public static let maximumControls = 256
}

/// The outcome of a request to a controller.
public enum RequestOutcome: Sendable, Hashable, Codable {
  case confirmed
  /// The request was not carried out, for the given reason.
  case refused(reason: String)
}
