/// Who carries out what a control panel asks for: each surface has a number of its own.
public enum ControlSurfaceEvent: Sendable, Hashable {
  /// A surface came, for these controls or, with `nil`, for all that the room asks for.
  case began(surface: Int, controls: [Text]?)
  /// A surface went, and with it what it had been asked for; `nil` for all surfaces.
  case ended(surface: Int?)
  /// The program was started again: no surface is there yet, and requests wait for one.
  case restarted

  /// How many controls a surface names at most.
  public static let maximumControls = 256
}

/// The outcome of a request to whoever drives the real thing.
public enum RequestOutcome: Sendable, Hashable, Codable {
  case confirmed
  /// It was not done, for this reason.
  case refused(reason: String)
}
