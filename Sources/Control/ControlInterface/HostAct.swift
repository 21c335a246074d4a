import LiveEvents
package import Varlink

/// The result of a host action. Each method sets only the members that it returns.
package struct HostReply: Codable, Sendable, Equatable {
  /// The people whom the host admitted.
  package var people: [UserReport]?
  package var waiting: Int?
  package var admitted: Int?
  /// The number of stored messages that pass the filter.
  package var passing: Int?
  /// The number of stored messages that mention a highlighted name.
  package var mentions: Int?
  package var unread: Int?
  /// The messages of a thread, oldest first.
  package var messages: [ChatMessageReport]?
  /// The card of a person.
  package var person: PersonCardReport?
  /// The new value of the slider.
  package var value: Double?
  /// The new position of the switch.
  package var on: Bool?
  /// The outcome of the request, if a controller confirmed or refused the host action.
  package var outcome: OutcomeReport?
  package var reason: String?

  package init(
    people: [UserReport]? = nil, waiting: Int? = nil, admitted: Int? = nil, passing: Int? = nil,
    mentions: Int? = nil, unread: Int? = nil, messages: [ChatMessageReport]? = nil,
    person: PersonCardReport? = nil,
    value: Double? = nil, on: Bool? = nil, outcome: OutcomeReport? = nil, reason: String? = nil
  ) {
    self.people = people
    self.waiting = waiting
    self.admitted = admitted
    self.passing = passing
    self.mentions = mentions
    self.unread = unread
    self.messages = messages
    self.person = person
    self.value = value
    self.on = on
    self.outcome = outcome
    self.reason = reason
  }
}

// Unlike other events, which arrive as lines, a host action arrives as a call. Each of these
// methods creates an event, which the room applies.

extension ControlInterface {
  /// Adds the methods for host actions.
  package static func addHostActs(
    to interface: inout Interface, _ service: some HostActService
  ) throws(RegistrationError) {
    try interface.handle("SetControl") { (_, parameters: SetControlParameters) in
      try await service.act(.control(try event(parameters)), in: parameters.room)
    }
    try interface.handle("RecordElsewhere") { (_, parameters: RecordElsewhereParameters) in
      try await service.act(.control(.record(parameters.wish)), in: parameters.room)
    }
    try interface.handle("Admit") { (_, parameters: AdmitParameters) in
      let user = try checked(parameters.user, "user")
      let all = parameters.all ?? false
      if all, user != nil { throw ServiceError.invalidParameter("all") }
      let admission: Admission = user.map(Admission.person) ?? (all ? .all : .next)
      return try await service.act(.waitingRoom(.admit(admission)), in: parameters.room)
    }
    try interface.handle("SetChatFilter") { (_, parameters: SetChatFilterParameters) in
      var person: Text? = try checked(parameters.user, "user")
      if let number = parameters.author {
        if person != nil { throw ServiceError.invalidParameter("author") }
        person = try await message(number, in: parameters.room, service).author.id
      }
      let filter = MessageFilter(
        person: person, words: try checked(parameters.words, "words"),
        mentionsOnly: parameters.mentionsOnly ?? false,
        platform: try checked(parameters.platform, "platform"))
      return try await service.act(.chat(.filter(filter)), in: parameters.room)
    }
    try interface.handle("SetMentionedNames") { (_, parameters: SetMentionedNamesParameters) in
      guard parameters.names.count <= ChatEvent.maximumHighlightedNames else {
        throw ServiceError.invalidParameter("names")
      }
      let names = try parameters.names.map { name throws(ServiceError) in
        try checked(name, "names")
      }
      return try await service.act(.chat(.highlight(names: names)), in: parameters.room)
    }
    try interface.handle("ScrollChat") { (_, parameters: ScrollChatParameters) in
      try await service.act(.chat(.scroll(parameters.position)), in: parameters.room)
    }
    try interface.handle("ShowThread") { (_, parameters: ShowThreadParameters) in
      var message: Text? = try checked(parameters.message, "message")
      if let number = parameters.number {
        if message != nil { throw ServiceError.invalidParameter("number") }
        message = try await Self.message(number, in: parameters.room, service).identifier
      }
      return try await service.act(.chat(.openThread(messageID: message)), in: parameters.room)
    }
    try addPersonActs(to: &interface, service)
    try interface.handle("HandleNotice") { (_, parameters: HandleNoticeParameters) in
      try await service.act(
        .chat(.handleNotice(number: parameters.notice, parameters.handling)), in: parameters.room)
    }
    try interface.handle("HandleActivity") { (_, parameters: HandleActivityParameters) in
      try await service.act(
        .activity(.handle(number: parameters.activity, parameters.handling)), in: parameters.room)
    }
  }

  /// Finds a message by its number. Fails if the message or its author has no identifier, because
  /// an event could not refer to it.
  static func message(
    _ number: Int, in room: String, _ service: some HostActService
  ) async throws -> FoundMessage {
    let found = try await service.message(numbered: number, in: room)
    guard !found.identifier.isEmpty, !found.author.id.isEmpty else {
      throw ControlError.noSuchMessage(room: room, message: "\(number)")
    }
    return found
  }

  private static func event(
    _ parameters: SetControlParameters
  ) throws(ServiceError) -> ControlEvent {
    let control = try checked(parameters.control, "control")
    switch (parameters.value, parameters.on) {
    case (let value?, nil):
      guard EventLimits.fraction.contains(value) else { throw .invalidParameter("value") }
      return .set(control: control, value: value)
    case (nil, let on): return .tap(control: control, on: on)
    case (.some, .some): throw .invalidParameter("on")
    }
  }

  static func addRequests(
    to interface: inout Interface, _ service: some ControlService
  ) throws(RegistrationError) {
    try interface.handleStream("MonitorRequests", requiresMore: true) {
      (_, parameters: MonitorRequestsParameters, replies) -> MonitorRequestsReply in
      let limit = ControllerEvent.maximumControls
      guard parameters.controls?.count ?? 0 <= limit else {
        throw ServiceError.invalidParameter("controls")
      }
      let controls = try parameters.controls?.map { name throws(ServiceError) in
        try checked(name, "controls") as Text
      }
      let acts = try offeredActs(parameters)
      return try await service.monitorRequests(parameters.room, controls: controls, acts: acts) {
        try await replies.send($0)
      }
    }
    try interface.handle("Act") { (_, parameters: ActParameters) in
      let act = try await requestedAct(parameters, service)
      return try await service.act(.control(.act(act)), in: parameters.room)
    }
    try interface.handle("ReportOutcome") { (_, parameters: ReportOutcomeParameters) in
      let reason = try checked(parameters.reason, "reason")
      let outcome: RequestOutcome =
        switch parameters.outcome {
        case .confirmed: .confirmed
        case .sent: .sent
        case .refused: .refused(reason: reason.map { String($0) } ?? "refused")
        }
      try await service.reportOutcome(parameters.identifier, outcome)
      return NoParameters()
    }
  }

  /// Checks that a text is not empty and not longer than an event allows.
  private static func checked(
    _ text: String, _ parameter: String
  ) throws(ServiceError) -> Text {
    guard (1...EventLimits.nameLength).contains(text.utf8.count) else {
      throw .invalidParameter(parameter)
    }
    return Text(text)
  }

  static func checked(
    _ text: String?, _ parameter: String
  ) throws(ServiceError) -> Text? {
    guard let text else { return nil }
    return try checked(text, parameter) as Text
  }
}
