import ArgumentParser
import Foundation
import LiveEvents
import LiveSources
import ObsStudio
import ProgramArguments
import TwitchChat

/// Command-line arguments that configure a source.
protocol PlannedArguments {
  /// The name of the source, as shown in rooms.
  var name: String { get }
  /// Copies the arguments to `configuration`, or throws a `ValidationError`.
  func configure(_ configuration: inout SourceConfiguration) throws
}

private func address(_ text: String, defaultPort: Int, of option: String) throws -> PeerAddress {
  guard let address = PeerAddress(text, defaultPort: defaultPort) else {
    throw ValidationError("\(option) must be HOST:PORT, not '\(text)'")
  }
  return address
}

private func channel(_ text: String) throws -> String {
  guard let name = TwitchSettings.channel(text) else {
    throw ValidationError("'\(text)' is not a channel: [a-z0-9_]{1,25}")
  }
  return name
}

/// Parses an address to which secrets are sent, or from which events arrive.
func privateAddress(
  _ text: String, _ scheme: HTTPAddress.Scheme = .http, of option: String
) throws -> HTTPAddress {
  guard let address = HTTPAddress(text, scheme) else {
    throw ValidationError("\(option) must be \(scheme.rawValue)s://HOST[:PORT]/PATH, not '\(text)'")
  }
  // Without encryption, anyone on the network path could read the secrets or events.
  guard address.protectsSecrets else {
    throw ValidationError("\(option) must use \(scheme.rawValue)s: except on this machine")
  }
  return address
}

extension HTTPAddress {
  private var isOnThisMachine: Bool {
    ["127.0.0.1", "::1", "localhost"].contains(server.host)
  }

  /// Whether data for the address is encrypted or does not leave this machine.
  var protectsSecrets: Bool { isEncrypted || isOnThisMachine }
}

extension ActOptions {
  func configure(_ configuration: inout SourceConfiguration) throws {
    if let acts { configuration.acts = try SourceTool.acts(acts) }
  }
}

/// Parses a list of acts: `none`, `all`, or names separated by commas.
func acts(_ text: String) throws -> [ActKind] {
  switch text {
  case "none": return []
  case "all": return ActKind.allCases
  default:
    return try text.split(separator: ",", omittingEmptySubsequences: false).map { name in
      guard let kind = ActKind(rawValue: String(name)) else {
        throw ValidationError(
          "'\(name)' is not an act; the acts are "
            + ActKind.allCases.map(\.rawValue).joined(separator: ", "))
      }
      return kind
    }
  }
}

extension TwitchArguments: PlannedArguments {
  var name: String { "twitch-\(channels.first.flatMap(TwitchSettings.channel) ?? "")" }

  func configure(_ configuration: inout SourceConfiguration) throws {
    var names: [String] = []
    for name in try channels.map(channel) where !names.contains(name) { names.append(name) }
    configuration.twitch.channels = names
    if let server {
      configuration.twitch.server = try address(
        server, defaultPort: noTls ? 6667 : 6697, of: "--server")
    } else if noTls {
      configuration.twitch.server.port = 6667
    }
    if let history {
      guard let address = HTTPAddress(history) else {
        throw ValidationError("--history must be https://HOST[:PORT]/PATH, not '\(history)'")
      }
      configuration.twitch.history = address
    }
    if noTls, events.ca != nil {
      throw ValidationError("--ca and --no-tls exclude each other")
    }
    if noTls, events.tokenFile != nil { throw ValidationError("--token-file needs TLS") }
    configuration.twitch.usesTLS = !noTls
    try events.configure(&configuration)
    if configuration.acts?.isEmpty == false, !configuration.twitch.hasLogin {
      throw ValidationError("--acts needs 'livehostctl login twitch', or --token-file FILE")
    }
    // A server other than Twitch's may lack EventSub, so EventSub is used with it only if the
    // arguments give EventSub's address.
    configuration.twitch.readsEvents =
      configuration.twitch.hasLogin && (server == nil || events.url != nil)
  }
}

extension EventSubOptions {
  /// The default path of the file in which `livehostctl login twitch` stores a login.
  static var standardFile: String {
    let environment = ProcessInfo.processInfo.environment
    let directory =
      environment["XDG_CONFIG_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
      ?? (environment["HOME"] ?? "") + "/.config"
    return directory + "/livehost/twitch.json"
  }

  func configure(_ configuration: inout SourceConfiguration) throws {
    if tokenFile != nil, loginFile != nil {
      throw ValidationError("--token-file and --login-file exclude each other")
    }
    try acts.configure(&configuration)
    configuration.twitch.certificates = ca
    configuration.twitch.tokenFile = tokenFile
    configuration.twitch.loginFile = loginFile
    if tokenFile == nil, loginFile == nil,
      FileManager.default.fileExists(atPath: Self.standardFile)
    {
      configuration.twitch.loginFile = Self.standardFile
    }
    if let url {
      configuration.twitch.eventsURL = try privateAddress(url, .webSocket, of: "--url")
    }
    if let api { configuration.twitch.api = try privateAddress(api, of: "--api") }
    if let auth { configuration.twitch.logins = try privateAddress(auth, of: "--auth") }
  }
}

extension EventSubArguments: PlannedArguments {
  var name: String { "eventsub-\(TwitchSettings.channel(channel) ?? "")" }

  func configure(_ configuration: inout SourceConfiguration) throws {
    configuration.twitch.channels = [try SourceTool.channel(channel)]
    try events.configure(&configuration)
    guard configuration.twitch.hasLogin else {
      throw ValidationError("log in with 'livehostctl login twitch', or add --token-file FILE")
    }
  }
}

extension ObsArguments: PlannedArguments {
  var name: String { "obs" }

  func configure(_ configuration: inout SourceConfiguration) throws {
    if let server {
      configuration.obs.server = try address(
        server, defaultPort: ObsSettings.address.port, of: "OBS's server")
    }
    configuration.obs.passwordFile = passwordFile
  }
}

extension ServerArguments {
  var name: String { Self.kind }

  func configure(_ configuration: inout SourceConfiguration) throws {
    try configureServer(&configuration)
  }

  func configureServer(_ configuration: inout SourceConfiguration) throws {
    guard let address = HTTPAddress(url) else {
      throw ValidationError("the address must be http://HOST[:PORT]/PATH, not '\(url)'")
    }
    configuration.server.address = address
    configuration.server.stream = stream.stream
  }
}

extension NginxRTMPArguments: PlannedArguments {}
extension MediaMTXArguments: PlannedArguments {}

extension OwncastArguments: PlannedArguments {
  func configure(_ configuration: inout SourceConfiguration) throws {
    try configureServer(&configuration)
    try acts.configure(&configuration)
    if let tokenFile {
      _ = try privateAddress(url, of: "with --token-file, the address")
      configuration.owncast.tokenFile = tokenFile
    } else if configuration.acts?.isEmpty == false {
      throw ValidationError("--acts needs --token-file")
    }
    guard let listen else {
      if sender.secretFile != nil || sender.allowRemote {
        throw ValidationError("--secret-file and --allow-remote need --listen")
      }
      return
    }
    try sender.configure(&configuration, listen: listen)
  }
}

extension SenderOptions {
  func configure(_ configuration: inout SourceConfiguration, listen: String) throws {
    let address = try SourceTool.address(listen, defaultPort: 0, of: "--listen")
    guard address.isLoopback || allowRemote else {
      throw ValidationError(
        "\(address) can be reached by other machines; listen on 127.0.0.1:\(address.port), or add "
          + "--allow-remote and --secret-file")
    }
    guard !allowRemote || secretFile != nil else {
      throw ValidationError("--allow-remote needs --secret-file")
    }
    configuration.webhook.listen = address
    configuration.webhook.secretFile = secretFile
    configuration.webhook.allowsRemote = allowRemote
  }
}

extension WebhookArguments: PlannedArguments {
  var name: String { "webhook" }

  func configure(_ configuration: inout SourceConfiguration) throws {
    try sender.configure(&configuration, listen: listen)
    configuration.webhook.mappingFile = mapping
  }
}

extension SocialStreamArguments: PlannedArguments {
  var name: String { "social-stream" }

  func configure(_ configuration: inout SourceConfiguration) throws {
    guard SourceConfiguration.SocialStreamOptions.isSession(session) else {
      throw ValidationError(
        "a session consists of letters, digits, - and _; see the dock's address")
    }
    try acts.configure(&configuration)
    configuration.socialStream.session = Secret(session)
    if let server {
      configuration.socialStream.server = try privateAddress(server, .webSocket, of: "--server")
    }
  }
}
