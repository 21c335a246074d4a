package import LiveEvents

extension ControlFeature.Action {
  /// The event that records the result of an effect. `nil` for other actions.
  package var event: ControlEvent? {
    switch self {
    case .answered(let request, let outcome): .outcome(request: request, outcome)
    case .sliderBegan, .sliderMoved, .sliderReleased, .tapped, .meterRead, .set, .reported, .ticked,
      .surface,
      .recordingRequested, .actRequested, .endStreamRequested, .streamEnded, .delegate:
      nil
    }
  }
}
