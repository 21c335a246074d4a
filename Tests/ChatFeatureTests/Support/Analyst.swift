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
        take()?.resume(throwing: CancellationError())
      }
    }
  }

  private func take() -> CheckedContinuation<ChatFindings, any Error>? {
    contents.withLock { contents in
      defer { contents.answer = nil }
      return contents.answer
    }
  }

  var searches: [BurstSearch] { contents.withLock { $0.searches } }

  func answer(_ findings: ChatFindings) { take()?.resume(returning: findings) }
  func fail() { take()?.resume(throwing: Failure()) }
}
