package import ChatFeature

extension ChatAnalysis {
  /// Returns an analysis that runs on the low-priority threads of the work executor, which lanes
  /// and connections do not use. Returns the analysis unchanged without `work`.
  package func running(on work: WorkExecutor?) -> ChatAnalysis {
    guard let executor = work?.executor(named: "ChatFeature.analysis") else { return self }
    let search = search
    return ChatAnalysis { request in
      try await withTaskExecutorPreference(executor) { try await search(request) }
    }
  }
}
