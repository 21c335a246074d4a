package import LiveEvents

/// What is known about one recorder.
package struct RecorderActivity: Equatable, Sendable, Codable {
  package var state = RecorderState.idle
  /// Bytes written.
  package var bytes = 0
  /// Time recorded, in milliseconds.
  package var durationMilliseconds = 0
  /// How much is done, of `total`, if the recorder knows.
  package var done: Int?
  package var total: Int?

  package init() {}

  /// The whole percent done, 0 to 100; `nil` if the total is unknown.
  package var percent: Int? {
    guard let done, let total, done >= 0, done <= total else { return nil }
    guard total > 0 else { return 100 }
    let product = UInt(total).dividingFullWidth(UInt(done).multipliedFullWidth(by: 100))
    return Int(product.quotient)
  }

  /// Whether a recording is open. A recording that is being started may fail; one that is being
  /// stopped does not take in anything more.
  package var isRecording: Bool {
    switch state {
    case .recording, .paused: true
    case .idle, .starting, .stopping, .failed: false
    }
  }

  /// The activity after the recorder entered a state.
  func entering(_ new: RecorderState) -> RecorderActivity {
    // What the previous recording wrote is not part of the new one.
    var next = new == .starting ? RecorderActivity() : self
    next.state = new
    return next
  }

  /// The activity after the recording was closed, or turned out not to exist.
  func saved(_ recording: SavedRecording?) -> RecorderActivity {
    var next = entering(.idle)
    (next.done, next.total) = (nil, nil)
    guard let recording else { return next }
    next.bytes = recording.bytes
    next.durationMilliseconds = recording.durationMilliseconds
    return next
  }

  /// The activity after the recorder reported its progress.
  func after(_ progress: RecorderProgress) -> RecorderActivity {
    var next = self
    next.bytes = progress.bytes
    next.durationMilliseconds = progress.durationMilliseconds
    next.done = progress.done
    next.total = progress.total
    return next
  }
}
