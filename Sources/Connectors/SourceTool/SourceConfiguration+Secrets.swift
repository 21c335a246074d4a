import Glibc
package import LiveSources
package import MediaServers
package import ObsStudio
package import TwitchChat
package import TwitchEvents
package import Webhooks

/// Reads the secrets of a source, from files or from the credentials of the service manager.
extension SourceConfiguration {
  /// Reads the secret and returns the gate that authenticates senders.
  package func webhookGate(credentials: String?) throws(SourceError) -> WebhookGate {
    let file = webhook.secretFile ?? Self.credential("token", in: credentials)
    guard let file else {
      guard !webhook.allowsRemote else {
        throw .refused("webhooks from other machines require a secret; name a file with it")
      }
      return WebhookGate(secret: nil, maximumBytes: webhook.maximumKibibytes << 10)
    }
    return WebhookGate(secret: try .read(file: file), maximumBytes: webhook.maximumKibibytes << 10)
  }

  /// Reads the access token and returns the acts on an Owncast server, or `nil` without a token.
  package func owncastActs(credentials: String?) throws(SourceError) -> OwncastActs? {
    guard let file = owncast.tokenFile ?? Self.credential("login", in: credentials),
      let address = server.address
    else { return nil }
    guard address.protectsSecrets else {
      throw .refused("Owncast's access token needs https, except on this machine")
    }
    return OwncastActs(
      address, token: try .read(file: file), offered: acts ?? OwncastActs.kinds)
  }

  /// Returns the session identifier of Social Stream Ninja, which the configuration or the
  /// credential contains.
  package func socialStreamSession(credentials: String?) throws(SourceError) -> Secret {
    if let session = socialStream.session { return session }
    guard let file = Self.credential("token", in: credentials) else {
      throw .refused("no session of Social Stream Ninja is configured")
    }
    let session = try Secret.read(file: file)
    guard session.reveal(SocialStreamOptions.isSession) else {
      throw .unreadableSecret(path: file, reason: "a session consists of letters, digits, - and _")
    }
    return session
  }

  /// Reads the password and returns the settings for OBS.
  package func obsSettings(credentials: String?) throws(SourceError) -> ObsSettings {
    guard let file = obs.passwordFile ?? Self.credential("token", in: credentials) else {
      return ObsSettings()
    }
    return ObsSettings(password: try .read(file: file, hasSpaces: true))
  }

  /// Reads the token and returns the settings for Twitch chat.
  package func twitchSettings(credentials: String?) throws(SourceError) -> TwitchSettings {
    var settings = TwitchSettings(channels: twitch.channels)
    settings.channelsPerConnection = twitch.channelsPerConnection
    settings.joinsPerTenSeconds = twitch.joinsPerTenSeconds
    if twitch.loginFile == nil,
      let file = twitch.tokenFile ?? Self.credential("token", in: credentials)
    {
      settings.account = TwitchSettings.Account(
        name: twitch.account ?? twitch.channels.first ?? "", token: try .read(file: file))
    }
    return settings
  }

  /// Returns the login for reading events, or `nil` if none is configured.
  ///
  /// - Parameter state: The directory that stores the renewed tokens of a login that the service
  ///   manager provides.
  package func twitchLogin(
    credentials: String?, state: String?
  ) throws(SourceError) -> TwitchLogin? {
    if let file = twitch.loginFile { return try .read(file: file) }
    if twitch.tokenFile == nil, let given = Self.credential("login", in: credentials), let state {
      return try .renewed(given, keptIn: state + "/twitch.json")
    }
    guard let file = twitch.tokenFile ?? Self.credential("token", in: credentials) else {
      return nil
    }
    return TwitchLogin(token: try .read(file: file))
  }

  /// Returns the path of a credential from the service manager. A file that contains only a line
  /// feed counts as absent: the systemd unit provides such a file by default, because a credential
  /// must not be empty.
  private static func credential(_ name: String, in directory: String?) -> String? {
    guard let file = directory.map({ "\($0)/\(name)" }) else { return nil }
    var status = stat()
    return stat(file, &status) == 0 && status.st_size > 1 ? file : nil
  }
}
