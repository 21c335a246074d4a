/// How many snapshots may be on their way to the daemon at a time: with one more it would forget all of them.
actor UploadSlots {
  private var free = 8
  private var waiting: [CheckedContinuation<Void, Never>] = []

  /// Calls `body` once there is a slot for it; in the order of the calls.
  func use<R: Sendable>(_ body: @Sendable () async throws -> R) async rethrows -> R {
    if free > 0 {
      free -= 1
    } else {
      await withCheckedContinuation { waiting.append($0) }
    }
    defer { leave() }
    return try await body()
  }

  private func leave() {
    if waiting.isEmpty { free += 1 } else { waiting.removeFirst().resume() }
  }
}
