package import LiveSources
package import RateLimiting

/// The password and time limits for one OBS.
package struct ObsSettings: Sendable {
  /// The default address of OBS's WebSocket server.
  package static let address = PeerAddress(host: "127.0.0.1", port: 4455)

  package var password: Secret?

  // MARK: Time limits

  /// How long OBS may take to send its greeting, and to accept the password.
  package var greeting = Interval.seconds(10)
  /// How often the state and statistics are polled.
  package var poll = Interval.seconds(1)
  /// How long OBS may leave polls unanswered before it counts as gone.
  package var silence = Interval.seconds(15)
  /// The delay before the inputs and scenes are requested again, after one was added or removed or
  /// while OBS is still loading.
  package var loading = Interval.milliseconds(500)

  package init(password: Secret? = nil) { self.password = password }
}
