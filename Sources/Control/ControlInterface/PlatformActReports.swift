package import LiveEvents
import Varlink

// The conversion of acts on platforms between events and the control interface.

extension PlatformAct {
  /// Creates the act that a request describes.
  package init(_ report: PlatformActReport) throws(Fault) {
    try self.init(
      report.kind, text: report.text.map { Text($0) }, message: report.message.map { Text($0) },
      person: report.user.map { Person(id: Text($0.id), name: Text($0.name)) },
      seconds: report.seconds, reason: report.reason.map { Text($0) },
      modes: report.modes.map(ChatModes.init), on: report.on)
  }
}

extension PlatformActReport {
  package init(_ act: PlatformAct) {
    self.init(
      kind: act.kind, text: act.text.map { String($0) }, message: act.message.map { String($0) },
      user: act.person.map { UserReport(id: String($0.id), name: String($0.name)) },
      seconds: act.seconds, reason: act.reason.map { String($0) },
      modes: act.modes.map(ChatModesReport.init), on: act.on)
  }
}

extension OutcomeReport {
  package init(_ outcome: RequestOutcome) {
    self =
      switch outcome {
      case .confirmed: .confirmed
      case .sent: .sent
      case .refused: .refused
      }
  }
}

extension ChatModes {
  fileprivate init(_ report: ChatModesReport) {
    self.init(
      slowSeconds: report.slowSeconds, emoteOnly: report.emoteOnly,
      followersOnlyMinutes: report.followersOnlyMinutes, subscribersOnly: report.subscribersOnly,
      uniqueOnly: report.uniqueOnly)
  }
}

extension ChatModesReport {
  package init(_ modes: ChatModes) {
    self.init(
      slowSeconds: modes.slowSeconds, emoteOnly: modes.emoteOnly,
      followersOnlyMinutes: modes.followersOnlyMinutes, subscribersOnly: modes.subscribersOnly,
      uniqueOnly: modes.uniqueOnly)
  }
}

extension ControlInterface {
  /// Returns the act that a call requests. The number of a message selects the message or its
  /// author, and the platform, so it cannot be combined with the parameters for these.
  static func requestedAct(
    _ parameters: ActParameters, _ service: some HostActService
  ) async throws -> RequestedAct {
    var report = PlatformActReport(
      kind: parameters.kind, text: parameters.text, message: parameters.message,
      user: parameters.user, seconds: parameters.seconds, reason: parameters.reason,
      modes: parameters.modes, on: parameters.on)
    var platform: Text? = try checked(parameters.platform, "platform")
    if let number = parameters.number {
      guard report.message == nil, report.user == nil, platform == nil else {
        throw ServiceError.invalidParameter("number")
      }
      let found = try await message(number, in: parameters.room, service)
      platform = found.platform
      if report.kind.isAboutMessage {
        report.message = String(found.identifier)
      } else if report.kind.isAboutPerson {
        report.user = UserReport(id: String(found.author.id), name: String(found.author.name))
      } else {
        throw ServiceError.invalidParameter("number")
      }
    }
    do {
      return RequestedAct(
        try PlatformAct(report), platform: platform,
        source: try checked(parameters.source, "source"), by: try checked(parameters.by, "by"))
    } catch let fault as PlatformAct.Fault {
      throw ServiceError.invalidParameter(fault.member.rawValue)
    }
  }

  /// Returns the acts that a controller offers, or `nil` if it offers none.
  static func offeredActs(
    _ parameters: MonitorRequestsParameters
  ) throws(ServiceError) -> OfferedActs? {
    let platform: Text? = try checked(parameters.platform, "platform")
    let source: Text? = try checked(parameters.source, "source")
    guard let kinds = parameters.acts, !kinds.isEmpty else { return nil }
    guard kinds.count <= ActKind.allCases.count else { throw .invalidParameter("acts") }
    return OfferedActs(platform: platform, source: source, kinds: kinds)
  }
}
