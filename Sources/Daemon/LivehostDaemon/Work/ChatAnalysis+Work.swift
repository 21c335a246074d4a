package import ChatFeature

extension ChatAnalysis {
  /// The same on threads of low priority, which neither lanes nor connections share.
  package func running(on work: WorkExecutor?) -> ChatAnalysis {
    guard let executor = work?.executor(named: "ChatFeature.analysis") else { return self }
    let search = search
    return ChatAnalysis { request in
      try await withTaskExecutorPreference(executor) { try await search(request) }
    }
  }
}
