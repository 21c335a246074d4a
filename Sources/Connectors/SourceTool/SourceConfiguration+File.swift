import LiveSources
package import YAMLReader

extension SourceConfiguration {
  /// Reads a configuration file.
  package init(file: String) throws(ConfigurationError) {
    self.init()
    try read(file: file)
    try validate(file: file)
  }

  /// Parses a configuration file. Settings whose keys are absent keep their current values.
  package mutating func read(_ text: String, file: String) throws(ConfigurationError) {
    try read(text: text, file: file)
    try validate(file: file)
  }

  private func validate(file: String) throws(ConfigurationError) {
    guard let kind else {
      throw ConfigurationError(
        file: file, key: "kind", message: "is missing; write 'kind: twitch' or 'kind: obs'")
    }
    switch kind {
    case .twitch, .eventsub:
      guard !twitch.channels.isEmpty else {
        throw ConfigurationError(
          file: file, key: "twitch.channels", message: "is empty; write [channel]")
      }
      if kind == .eventsub, twitch.channels.count > 1 {
        throw ConfigurationError(
          file: file, key: "twitch.channels",
          message: "lists several channels; eventsub reads only one")
      }
    case .obs, .socialStream: break
    case .webhook:
      guard webhook.listen != nil else {
        throw ConfigurationError(
          file: file, key: "webhook.listen", message: "is missing; write 127.0.0.1:PORT")
      }
      guard webhook.mappingFile != nil else {
        throw ConfigurationError(
          file: file, key: "webhook.mapping",
          message:
            "is missing; name a mapping file, or a sender such as ko-fi")
      }
    case .nginxRTMP, .mediaMTX, .owncast:
      guard server.address != nil else {
        throw ConfigurationError(
          file: file, key: "server.url", message: "is missing; write http://HOST[:PORT]/PATH")
      }
      if kind == .owncast, owncast.tokenFile != nil, server.address?.protectsSecrets == false {
        throw ConfigurationError(
          file: file, key: "server.url",
          message: "must use https, except on this machine, because of owncast.tokenFile")
      }
    }
    if let address = webhook.listen, !address.isLoopback, !webhook.allowsRemote {
      throw ConfigurationError(
        file: file, key: "webhook.listen",
        message: "\(address) can be reached by other machines; write 127.0.0.1:\(address.port), or "
          + "'allowRemote: true' and a secret")
    }
  }
}
