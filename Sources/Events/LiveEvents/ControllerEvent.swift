/// Events about controllers, which carry out the requests of a control panel and are identified by
/// unique numbers.
public enum ControllerEvent: Sendable, Hashable {
  /// A controller connected for these controls, where `nil` means all controls of the room, and for
  /// these acts, where `nil` means none. Boxed, because the event is rare and larger than others.
  indirect case began(controller: Int, controls: [Text]?, acts: OfferedActs? = nil)
  /// The controller with this number disconnected, which ends its requests; `nil` means every
  /// controller.
  case ended(controller: Int?)
  /// The daemon restarted. Requests wait for a controller, because none is connected yet.
  case restarted

  /// The maximum number of controls that a controller names.
  public static let maximumControls = 256
}

/// The acts that a controller can carry out.
public struct OfferedActs: Sendable, Hashable, Codable {
  /// The platform on which the controller acts, or `nil` if it acts on any platform.
  public let platform: Text?
  /// The source to which the controller belongs, if any.
  public let source: Text?
  /// The kinds of act, without repetition, in the order of their declaration.
  public let kinds: [ActKind]

  public init(platform: Text? = nil, source: Text? = nil, kinds: [ActKind]) {
    self.platform = platform?.owned()
    self.source = source?.owned()
    self.kinds = ActKind.allCases.filter(kinds.contains)
  }
}

extension OfferedActs: Bounded {
  package func checkBounds() throws(OutOfBounds) {
    try require(names: platform, source, in: "platform")
    try require(kinds.count <= ActKind.allCases.count, "kinds")
  }
}

/// The outcome of a request to a controller.
public enum RequestOutcome: Sendable, Hashable, Codable {
  case confirmed
  /// The request was passed to a platform that does not confirm requests.
  case sent
  /// The request was not carried out, for the given reason.
  case refused(reason: String)

  /// Whether the request was carried out, as far as the platform reports it.
  package var isSuccess: Bool {
    switch self {
    case .confirmed, .sent: true
    case .refused: false
    }
  }

  /// The reason for a refusal.
  package var reason: String? { if case .refused(let reason) = self { reason } else { nil } }
}
