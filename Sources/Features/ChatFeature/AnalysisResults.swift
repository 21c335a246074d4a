package import LiveEvents

extension ChatFeature.Action {
  /// The event by which the room notes what an effect brings back; `nil` for what no effect does.
  package var event: ChatEvent? {
    switch self {
    case .analysed(let findings): .findings(findings)
    case .messages, .messageDeleted, .cleared, .timedOut, .notice, .modesChanged, .ticked, .reading,
      .reviewContinued, .analysisWanted, .analysisResumed:
      nil
    }
  }
}
