package import LiveEvents

/// What is known of one recorder.
package struct Recording: Equatable, Sendable, Codable {
  package var state = RecorderState.idle
  /// Bytes written.
  package var bytes = 0
  /// Time recorded, in milliseconds.
  package var durationMilliseconds = 0
  /// Steps done, of `total`, where the recorder knows them.
  package var done: Int?
  package var total: Int?

  package init() {}

  /// The whole percent done, 0 to 100; `nil` if the total is not known.
  package var percent: Int? {
    guard let done, let total, done >= 0, done <= total else { return nil }
    guard total > 0 else { return 100 }
    let product = UInt(total).dividingFullWidth(UInt(done).multipliedFullWidth(by: 100))
    return Int(product.quotient)
  }

  /// Whether a recording is open. One that is being started may fail, one that is being stopped
  /// takes in nothing more.
  package var isRecording: Bool {
    switch state {
    case .recording, .paused: true
    case .idle, .starting, .stopping, .failed: false
    }
  }

  /// The recording after its recorder entered a state.
  func entering(_ new: RecorderState) -> Recording {
    // What the one before had written is not of the new one.
    var next = new == .starting ? Recording() : self
    next.state = new
    return next
  }

  /// The recording after its recorder told how far it is.
  func after(_ progress: RecorderProgress) -> Recording {
    var next = self
    next.bytes = progress.bytes
    next.durationMilliseconds = progress.durationMilliseconds
    next.done = progress.done
    next.total = progress.total
    return next
  }
}
