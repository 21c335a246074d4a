package import LiveEvents

extension ChatFeature.Action {
  /// The event that records the result of an effect. `nil` for other actions.
  package var event: ChatEvent? {
    switch self {
    case .analysed(let findings): .findings(findings)
    case .messages, .messageDeleted, .cleared, .timedOut, .notice, .modesChanged, .ticked, .reading,
      .reviewContinued, .analysisWanted, .analysisResumed, .actsChanged:
      nil
    }
  }
}
