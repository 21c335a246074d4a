import LiveEvents

/// How far the history has been looked through again, after the names or the filter changed.
///
/// A history may hold megabytes. A part of it is looked at at once, which is all of an ordinary one, and
/// each frame takes the next part, oldest messages first. Frames are recorded, so a replay comes to the
/// same state at the same time.
package struct HistoryReview: Equatable, Sendable, Codable {
  /// How much is looked at in one go: texts of this many bytes, which take about a millisecond, ...
  package static let bytes = 256 << 10
  /// ... and this many messages.
  package static let messages = 4_096

  /// The number of the next message to look at.
  var next: Int
}

extension ChatFeature.State {
  /// Whether part of the history has not been looked at since the names or the filter changed.
  /// ``filtered`` lacks what is in it then.
  package var isReviewing: Bool { bookkeeping.review != nil }
}

extension ChatFeature {
  /// Starts over, for other names or another filter.
  func beginReview(_ state: inout State) {
    state.filtered = state.filter.map { _ in MessageHistory(limit: state.messages.limit) }
    state.bookkeeping.review = HistoryReview(next: state.messages.first?.number ?? 0)
    continueReview(&state)
  }

  /// Looks at the next part of the history.
  ///
  /// - Complexity: O(``HistoryReview/bytes``); at the end O(history) if a thread is open.
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
