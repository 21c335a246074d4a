import LivehostDaemon

/// A slot that a test has taken, until it gives it back.
struct TakenSlot {
  private let work: Task<Void, any Error>
  private let hold: AsyncStream<Void>.Continuation

  /// Takes a slot that is free.
  ///
  /// - Parameter end: called last in the slot.
  init(of slots: WorkSlots, atEnd end: @escaping @Sendable () -> Void = {}) async {
    let (held, hold) = AsyncStream.makeStream(of: Void.self)
    let (entered, enter) = AsyncStream.makeStream(of: Void.self)
    self.hold = hold
    work = Task {
      try await slots.run {
        enter.yield()
        for await _ in held {}
        end()
      }
    }
    for await _ in entered { break }
  }

  /// Returns once it is free.
  func giveBack() async throws {
    hold.finish()
    try await work.value
  }
}
