import Synchronization

final class AtomicCounter: Sendable {
  private let value: Atomic<UInt64>
  private let step: UInt64

  init(_ first: UInt64, step: UInt64 = 1) {
    value = Atomic(first)
    self.step = step
  }

  func next() -> UInt64 { value.wrappingAdd(step, ordering: .relaxed).oldValue }
}
