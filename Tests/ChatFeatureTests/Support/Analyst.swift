import Analysis
import ChatFeature
import LiveEvents
import Synchronization

/// An analysis that answers when the test calls it.
final class Analyst: Sendable {
  private typealias Answer = CheckedContinuation<ChatFindings, any Error>
  private let contents = Mutex<(searches: [BurstSearch], answer: Answer?)>(([], nil))

  struct Failure: Error {}

  var client: ChatAnalysis {
    ChatAnalysis { [self] search in
      try await withTaskCancellationHandler {
        try await withCheckedThrowingContinuation { answer in
          contents.withLock { contents in
            contents.searches.append(search)
            contents.answer = answer
          }
        }
      } onCancel: {
        removeAnswer()?.resume(throwing: CancellationError())
      }
    }
  }

  private func removeAnswer() -> CheckedContinuation<ChatFindings, any Error>? {
    contents.withLock { contents in
      defer { contents.answer = nil }
      return contents.answer
    }
  }

  var searches: [BurstSearch] { contents.withLock { $0.searches } }

  func answer(_ findings: ChatFindings) { removeAnswer()?.resume(returning: findings) }
  func fail() { removeAnswer()?.resume(throwing: Failure()) }
}
