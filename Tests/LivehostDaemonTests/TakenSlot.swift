import Rooms

/// A slot that a test occupies until it releases the slot.
struct TakenSlot {
  private let work: Task<Void, any Error>
  private let hold: AsyncStream<Void>.Continuation

  /// Occupies a free slot.
  ///
  /// - Parameter end: Called last while the slot is occupied.
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

  /// Waits until the slot is free.
  func giveBack() async throws {
    hold.finish()
    try await work.value
  }
}
