package import JSON

/// The kinds of analyses of a chat.
package enum AnalysisKind: String, Sendable, CaseIterable {
  /// The times in which the chat was unusually busy, and the words that mark them.
  case highlights
  /// The messages that are nearly identical.
  case spam
  /// The number of messages of each person.
  case chatters
}

/// The result of an analysis, as JSON and as text.
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
///   - sliceNanoseconds: the time after which the analysis yields.
///   - progress: called frequently with the amount done and the total amount.
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

/// Reads all messages.
///
/// - Parameter add: analyses a message. Returns whether that may have taken long.
private func read<Source: MessageSource>(
  _ source: inout Source, _ slice: inout TimeSlice, _ progress: (Int, Int) -> Void,
  _ add: (WrittenMessage) -> Bool
) async throws {
  var messages: [WrittenMessage] = []
  while try source.read(into: &messages) {
    try await slice.yieldIfDue()
    for (index, message) in messages.enumerated() {
      let isLong = add(message)
      if isLong || index % 32 == 31 { try await slice.yieldIfDue() }
    }
    messages.removeAll(keepingCapacity: true)
    progress(source.done, source.total)
  }
}
