import ControlInterface
import LiveEvents
package import Recordings

extension RecordingReport {
  init(_ name: String, room: String, startedAt: Int) {
    self.init(
      recording: name, room: room, state: .recording, reason: nil, startedAt: startedAt,
      endedAt: nil, events: 0, frames: 0, bytes: 0, durationMs: 0, segments: 1, digest: nil)
  }

  init(_ summary: RecordingSummary) {
    self.init(
      recording: summary.name, room: summary.room, state: summary.state,
      reason: summary.reason, startedAt: summary.startedAt, endedAt: summary.endedAt,
      events: summary.events, frames: summary.frames, bytes: summary.bytes,
      durationMs: summary.durationMs, segments: summary.segments,
      digest: summary.digest.flatMap { StateDigest.isComparable($0) ? $0 : nil })
  }
}

extension ControlError {
  /// Creates the error that a client receives if a recording cannot be read or deleted.
  package init(_ error: RecordingError) {
    switch error {
    case .noSuchRecording(let name): self = .noSuchRecording(name)
    case .inUse(let name): self = .recordingInUse(name)
    default: self = .recordingFailed(room: "", reason: error.description)
    }
  }
}
