package import JSON

/// What an analysis finds out about a chat.
package enum AnalysisKind: String, Sendable, CaseIterable {
  /// When the chat was unusually busy, and which words mark those times.
  case highlights
  /// Which messages are nearly identical.
  case spam
  /// How much each person writes.
  case chatters
}

/// The result of an analysis: as JSON, and as lines for people.
package struct AnalysisResult: Sendable {
  package var json: JSONValue
  package var lines: [String]

  package init(json: JSONValue, lines: [String]) {
    self.json = json
    self.lines = lines
  }
}

/// Analyses a chat in slices of about a millisecond, yielding between them.
///
/// - Parameters:
///   - source: the messages of the chat.
///   - sliceNanoseconds: how long the analysis works before it yields.
///   - progress: called frequently with how much is done, and of how much.
/// - Throws: `CancellationError` within a slice of being cancelled, and any error of the source.
package func analyze<Source: MessageSource>(
  _ kind: AnalysisKind, _ source: Source, sliceNanoseconds: UInt64 = 700_000,
  progress: (Int, Int) -> Void
) async throws -> AnalysisResult {
  var source = source
  var slice = TimeSlice(length: sliceNanoseconds)
  switch kind {
  case .highlights:
    var highlights = RecordedHighlights()
    try await read(&source, &slice, progress) { highlights.add($0) }
    return highlights.result()
  case .spam:
    return try await slice.using(NearDuplicates()) { clusters, slice in
      try await read(&source, &slice, progress) {
        clusters.add($0)
        return false
      }
      return try await clusters.result(&slice)
    }
  case .chatters:
    return try await slice.using(Chatters()) { chatters, slice in
      try await read(&source, &slice, progress) {
        chatters.add($0)
        return false
      }
      return try await chatters.result(&slice)
    }
  }
}

/// - Parameter take: looks at a message; returns whether it took long.
private func read<Source: MessageSource>(
  _ source: inout Source, _ slice: inout TimeSlice, _ progress: (Int, Int) -> Void,
  _ take: (WrittenMessage) -> Bool
) async throws {
  var messages: [WrittenMessage] = []
  while try source.read(into: &messages) {
    try await slice.yieldIfDue()
    for (index, message) in messages.enumerated() {
      let isLong = take(message)
      if isLong || index % 32 == 31 { try await slice.yieldIfDue() }
    }
    messages.removeAll(keepingCapacity: true)
    progress(source.done, source.total)
  }
}
