/// The Twitch side of one connection, which receives and returns lines. The script determines its
/// errors.
package struct ScriptedPeer: Sendable {
  package struct Script: Sendable {
    /// Refuses a request for several capabilities, but grants single ones.
    package var refusesTogether = false
    /// The capabilities that it does not know.
    package var unknown: Set<String> = []
    /// The channels whose JOIN it does not answer.
    package var swallowed: Set<String> = []
    package var refusesLogin = false

    package init() {}
  }

  package var script: Script
  package private(set) var nick = ""
  package private(set) var isRegistered = false
  package private(set) var capabilities: Set<String> = []
  package private(set) var joined: Set<String> = []
  /// Behaviour of the client that a real server would not accept.
  package private(set) var faults: [String] = []
  private var asked: Set<String> = []

  package init(_ script: Script = Script()) { self.script = script }

  package var hasTags: Bool { capabilities.contains("twitch.tv/tags") }

  package mutating func answer(_ line: String) -> [String] {
    let words = line.split(separator: " ", maxSplits: 1).map(String.init)
    let rest = words.count > 1 ? words[1] : ""
    switch words.first {
    case "CAP": return capability(rest)
    case "NICK":
      nick = rest
      if script.refusesLogin { return [":tmi.twitch.tv NOTICE * :Login authentication failed"] }
      isRegistered = true
      return Self.welcome.map { ":tmi.twitch.tv \($0.numeric) \(nick) :\($0.text)" }
    case "JOIN": return rest.split(separator: ",").flatMap { join(String($0.dropFirst())) }
    case "PING":
      return [":tmi.twitch.tv PONG tmi.twitch.tv :\(rest.drop { $0 == ":" })"]
    case "PONG", "USER", "PASS", "QUIT": return []
    case "MODE", "WHO", "WHOIS":
      return [":tmi.twitch.tv 421 \(nick) \(words[0]) :Unknown command"]
    default:
      faults.append("unexpected: \(line)")
      return []
    }
  }

  /// The welcome in Twitch's own words. Clients require all of it; some fail if a text ends
  /// that did not begin.
  private static let welcome: [(numeric: String, text: String)] = [
    ("001", "Welcome, GLHF!"), ("002", "Your host is tmi.twitch.tv"),
    ("003", "This server is rather new"), ("004", "-"), ("375", "-"),
    ("372", "You are in a maze of twisty passages, all alike."), ("376", ">"),
  ]

  private static let capabilityNames = [
    "twitch.tv/commands", "twitch.tv/membership", "twitch.tv/tags",
  ]

  private mutating func capability(_ rest: String) -> [String] {
    if rest.hasPrefix("LS") {
      let names = Self.capabilityNames.filter { !script.unknown.contains($0) }
      return [":tmi.twitch.tv CAP * LS :\(names.joined(separator: " "))"]
    }
    guard rest.hasPrefix("REQ ") else { return [] }
    let names = rest.dropFirst(4).drop { $0 == ":" }.split(separator: " ").map(String.init)
    let isRefused =
      names.contains(where: script.unknown.contains)
      || script.refusesTogether && names.count > 1
    if !isRefused { capabilities.formUnion(names) }
    return [":tmi.twitch.tv CAP * \(isRefused ? "NAK" : "ACK") :\(names.joined(separator: " "))"]
  }

  private mutating func join(_ channel: String) -> [String] {
    guard isRegistered else {
      faults.append("joined before the welcome")
      return []
    }
    // A second JOIN of a channel is not answered, because no client should rely on an answer.
    guard asked.insert(channel).inserted else {
      faults.append("joined \(channel) twice")
      return []
    }
    guard !script.swallowed.contains(channel) else { return [] }
    joined.insert(channel)
    let own = ":\(nick)!\(nick)@\(nick).tmi.twitch.tv JOIN #\(channel)"
    let server = ":\(nick).tmi.twitch.tv"
    return [
      own, "\(server) 353 \(nick) = #\(channel) :\(nick)",
      "\(server) 366 \(nick) #\(channel) :End of /NAMES list",
    ] + (hasTags ? ["@room-id=1;slow=0 :tmi.twitch.tv ROOMSTATE #\(channel)"] : [])
  }
}
