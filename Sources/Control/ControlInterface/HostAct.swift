import Varlink

/// Something that the host of a room does, beside setting controls.
public enum HostAct: Equatable, Sendable {
  /// Lets in somebody, all, or without both whoever has waited longest; as far as there is room.
  case admit(user: String?, all: Bool)
  case filterChat(ChatFilterReport)
  case highlight(names: [String])
  case scroll(ScrollPosition)
  /// Opens the thread of a message; nil closes the one that is open.
  case openThread(message: String?)
  case handleNotice(Int, NoticeHandlingReport)
}

/// Where in the chat the host reads.
public enum ScrollPosition: String, Codable, Sendable, CaseIterable { case back, end }

/// What becomes of a notice.
public enum NoticeHandlingReport: String, Codable, Sendable, CaseIterable {
  case pin, unpin, dismiss
}

/// What came of it; each method gives some of the members.
public struct HostReply: Codable, Sendable, Equatable {
  /// Those whom the host let in.
  public var people: [UserReport]?
  public var waiting: Int?
  public var admitted: Int?
  /// Messages kept that pass the filter.
  public var passing: Int?
  /// Messages kept in which somebody is mentioned.
  public var mentions: Int?
  public var unread: Int?
  /// Those of a thread, oldest first.
  public var messages: [ChatMessageReport]?

  public init(
    people: [UserReport]? = nil, waiting: Int? = nil, admitted: Int? = nil, passing: Int? = nil,
    mentions: Int? = nil, unread: Int? = nil, messages: [ChatMessageReport]? = nil
  ) {
    self.people = people
    self.waiting = waiting
    self.admitted = admitted
    self.passing = passing
    self.mentions = mentions
    self.unread = unread
    self.messages = messages
  }
}

struct AdmitParameters: Codable, Sendable {
  let room: String
  var user: String?
  var all: Bool?
}

struct SetChatFilterParameters: Codable, Sendable {
  let room: String
  var user: String?
  var words: String?
  var mentionsOnly: Bool?
}

struct SetMentionedNamesParameters: Codable, Sendable {
  let room: String
  let names: [String]
}

struct ScrollChatParameters: Codable, Sendable {
  let room: String
  let position: ScrollPosition
}

struct ShowThreadParameters: Codable, Sendable {
  let room: String
  var message: String?
}

struct HandleNoticeParameters: Codable, Sendable {
  let room: String
  let notice: Int
  let handling: NoticeHandlingReport
}

extension ControlInterface {
  /// The longest name, identifier or words that a host asks for, in bytes of UTF-8.
  static let longestHostText = 256
  /// The most names whose mention is marked.
  static let mostMentionedNames = 32

  static func addHostActs(
    to interface: inout Interface, _ service: some ControlService
  ) throws(RegistrationError) {
    try interface.handle("Admit") { (_, parameters: AdmitParameters) in
      try check(parameters.user, "user")
      let all = parameters.all ?? false
      if all, parameters.user != nil { throw ServiceError.invalidParameter("all") }
      return try await service.act(.admit(user: parameters.user, all: all), in: parameters.room)
    }
    try interface.handle("SetChatFilter") { (_, parameters: SetChatFilterParameters) in
      try check(parameters.user, "user")
      try check(parameters.words, "words")
      let filter = ChatFilterReport(
        user: parameters.user, words: parameters.words, mentionsOnly: parameters.mentionsOnly)
      return try await service.act(.filterChat(filter), in: parameters.room)
    }
    try interface.handle("SetMentionedNames") { (_, parameters: SetMentionedNamesParameters) in
      for name in parameters.names { try check(name, "names") }
      guard parameters.names.count <= mostMentionedNames else {
        throw ServiceError.invalidParameter("names")
      }
      return try await service.act(.highlight(names: parameters.names), in: parameters.room)
    }
    try interface.handle("ScrollChat") { (_, parameters: ScrollChatParameters) in
      try await service.act(.scroll(parameters.position), in: parameters.room)
    }
    try interface.handle("ShowThread") { (_, parameters: ShowThreadParameters) in
      try check(parameters.message, "message")
      return try await service.act(.openThread(message: parameters.message), in: parameters.room)
    }
    try interface.handle("HandleNotice") { (_, parameters: HandleNoticeParameters) in
      let act = HostAct.handleNotice(parameters.notice, parameters.handling)
      return try await service.act(act, in: parameters.room)
    }
  }

  private static func check(_ text: String?, _ parameter: String) throws(ServiceError) {
    guard let text else { return }
    guard (1...longestHostText).contains(text.utf8.count) else {
      throw .invalidParameter(parameter)
    }
  }
}
