/// The state of the stream as its platform reports it.
public enum StreamState: String, Sendable, CaseIterable, Codable {
  case waiting, live, paused, ended
}
