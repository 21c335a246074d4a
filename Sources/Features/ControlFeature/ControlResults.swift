package import LiveEvents

extension ControlFeature.Action {
  /// The event by which the room notes what an effect brings back; `nil` for what no effect does.
  package var event: ControlEvent? {
    switch self {
    case .answered(let request, let outcome): .outcome(request: request, outcome)
    case .sliderBegan, .sliderMoved, .sliderReleased, .tapped, .meterRead, .set, .reported, .ticked,
      .surface,
      .recordingRequested, .endStreamRequested, .streamEnded, .delegate:
      nil
    }
  }
}
