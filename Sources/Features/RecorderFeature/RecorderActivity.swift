package import LiveEvents

/// The known state of one recorder.
package struct RecorderActivity: Equatable, Sendable, Codable {
  package var state = RecorderState.idle
  package var bytes = 0
  /// The recorded time in milliseconds.
  package var durationMilliseconds = 0
  /// The completed part of ``total``, if the recorder reports it.
  package var done: Int?
  package var total: Int?

  package init() {}

  /// The completed percentage from 0 to 100, rounded down. `nil` if the total is unknown.
  package var percent: Int? {
    guard let done, let total, done >= 0, done <= total else { return nil }
    guard total > 0 else { return 100 }
    let product = UInt(total).dividingFullWidth(UInt(done).multipliedFullWidth(by: 100))
    return Int(product.quotient)
  }

  /// Whether a recording is open. A recording that is being started may still fail, and a recording
  /// that is being stopped accepts no more data.
  package var isRecording: Bool {
    switch state {
    case .recording, .paused: true
    case .idle, .starting, .stopping, .failed: false
    }
  }

  /// Returns the activity after the recorder entered a state.
  func entering(_ new: RecorderState) -> RecorderActivity {
    // A new recording starts with new counts.
    var next = new == .starting ? RecorderActivity() : self
    next.state = new
    return next
  }

  /// Returns the activity after the recording was closed, or turned out not to exist.
  func saved(_ recording: SavedRecording?) -> RecorderActivity {
    var next = entering(.idle)
    (next.done, next.total) = (nil, nil)
    guard let recording else { return next }
    next.bytes = recording.bytes
    next.durationMilliseconds = recording.durationMilliseconds
    return next
  }

  func after(_ progress: RecorderProgress) -> RecorderActivity {
    var next = self
    next.bytes = progress.bytes
    next.durationMilliseconds = progress.durationMilliseconds
    next.done = progress.done
    next.total = progress.total
    return next
  }
}

extension RecorderActivity: Bounded {
  package func checkBounds() throws(OutOfBounds) {
    try require(countable: bytes, durationMilliseconds, done, total, in: "bytes")
  }
}
