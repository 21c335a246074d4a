import JSON
import LiveEvents

extension RecorderEvent: NativeEvent {
  enum NativeType: String, CaseIterable {
    case state = "recorder.state"
    case progress = "recorder.progress"
  }

  var nativeType: NativeType {
    switch self {
    case .state: .state
    case .progress: .progress
    }
  }

  init(_ type: NativeType, from line: borrowing NativeMembers) throws(RejectionReason) {
    self =
      switch type {
      case .state: .state(try line.choice(.state))
      case .progress:
        .progress(
          RecorderProgress(
            bytes: try line.integer(.bytes, in: EventLimits.total),
            durationMilliseconds: try line.milliseconds(.durationMs, in: EventLimits.total),
            done: line.optionalInteger(.done, in: EventLimits.total),
            total: line.optionalInteger(.total, in: EventLimits.total)))
      }
  }

  func write(to object: inout JSONWriter) {
    switch self {
    case .state(let state): object.add("state", state.rawValue)
    case .progress(let progress):
      object.add("bytes", progress.bytes)
      object.add("durationMs", progress.durationMilliseconds)
      object.add("done", progress.done)
      object.add("total", progress.total)
    }
  }
}
