/// The state of the stream as reported by its platform.
public enum StreamState: String, Sendable, CaseIterable, Codable {
  case waiting, live, paused, ended
}
