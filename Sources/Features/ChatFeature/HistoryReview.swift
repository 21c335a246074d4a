import LiveEvents

/// The progress of applying changed names or a changed filter to the history.
///
/// A history may contain megabytes. Its first part is reviewed immediately, which suffices for an
/// ordinary history. Each frame then reviews the next part, oldest messages first. Recordings
/// contain the frames, so a replay reaches the same state at the same time.
package struct HistoryReview: Equatable, Sendable, Codable {
  /// The maximum bytes of text that are reviewed together, which takes about a millisecond.
  package static let bytes = 256 << 10
  /// The maximum number of messages that are reviewed together.
  package static let messages = 4_096

  /// The number of the next message to review.
  var next: Int
}

extension ChatFeature.State {
  /// Whether part of the history has not been reviewed since the names or the filter changed.
  /// ``filtered`` lacks the messages of the part that has not been reviewed.
  package var isReviewing: Bool { bookkeeping.review != nil }
}

extension ChatFeature {
  func beginReview(_ state: inout State) {
    state.filtered = state.filter.map { _ in MessageHistory(limit: state.messages.limit) }
    state.bookkeeping.review = HistoryReview(next: state.messages.first?.number ?? 0)
    continueReview(&state)
  }

  /// Reviews the next part of the history. Takes O(``HistoryReview/bytes``), and for the last part
  /// O(history) if a thread is open.
  func continueReview(_ state: inout State) {
    guard let review = state.bookkeeping.review else { return }
    let mentions = state.mentionedNames
    var position = state.messages.position(ofNumber: review.next)
    let end = min(state.messages.count, position + HistoryReview.messages)
    var bytes = 0
    while position < end, bytes < HistoryReview.bytes {
      let message = state.messages.mark(position, mentions)
      if state.filter?.passes(message) == true { state.filtered?.append(message) }
      state.folded?.mark(message)
      bytes += min(message.message.text.byteCount, TextSearch.searchedBytes)
      position += 1
    }
    guard position == state.messages.count else {
      state.bookkeeping.review = HistoryReview(next: state.messages[position].number)
      return
    }
    state.bookkeeping.review = nil
    refreshThread(&state)
  }
}
