extension LogSession {
  /// The segments of the log that a room needs: those with batches after its two newest snapshots.
  final class Room {
    var onSnapshotDue: (@Sendable (String) -> Void)?
    /// The first segments with batches after the previous snapshot, the newest one, and the one
    /// being written; `nil` if there are no such batches.
    var afterPrevious: Int?
    var afterNewest: Int?
    var afterNext: Int?
    var isSaving = false
    /// The number of rooms with this name: a new room may be opened before the old one is
    /// completely closed.
    var lives: Int
    /// Whether no batch of the room is needed any more, although the room may still write batches.
    private(set) var isForgotten = false
    /// Spreads the snapshots of rooms over time.
    let order: Int

    var first: Int? { afterPrevious ?? afterNewest ?? (isSaving ? afterNext : nil) }

    init(lives: Int = 0, order: Int) { (self.lives, self.order) = (lives, order) }

    func add(_ segment: Int) {
      guard !isForgotten else { return }
      afterPrevious = afterPrevious ?? segment
      afterNewest = afterNewest ?? segment
      if isSaving { afterNext = afterNext ?? segment }
    }

    func forget() {
      isForgotten = true
      (afterPrevious, afterNewest, afterNext) = (nil, nil, nil)
    }
  }
}
