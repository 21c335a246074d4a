package import LiveSources
package import RateLimiting

/// Which OBS, and how it is watched.
package struct ObsSettings: Sendable {
  /// Where OBS's own WebSocket server is.
  package static let address = PeerAddress(host: "127.0.0.1", port: 4455)

  package var password: Secret?

  // MARK: Times

  /// How long OBS may take to greet, and to accept the password.
  package var greeting = Interval.seconds(10)
  /// How often its state and statistics are asked for.
  package var poll = Interval.seconds(1)
  /// How long it may be silent, although it is asked each second.
  package var silence = Interval.seconds(15)
  /// When to ask an OBS again that is still loading.
  package var loading = Interval.milliseconds(500)

  package init(password: Secret? = nil) { self.password = password }
}
