/// Limits how many operations run at the same time.
actor Slots {
  private var free: Int
  private var waiting: [CheckedContinuation<Void, Never>] = []

  init(_ count: Int) { free = count }

  /// Calls `body` once a slot is free, in the order of the calls.
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
