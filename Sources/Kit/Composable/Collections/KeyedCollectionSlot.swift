/// Where an element of a ``KeyedCollection`` is stored, for as long as it lives.
///
/// To keep something per element (an observer, a row), index an array by ``index``; the
/// indices are dense and used again after a removal. The generation tells the old tenant from the
/// new one. Slots of one collection mean nothing in another.
public struct KeyedSlot: Hashable, Sendable {
  /// From 0 up to ``KeyedCollection/slotLimit``.
  public let index: Int
  /// How many elements lived in the slot before, modulo 2^32.
  public let generation: UInt32

  @inlinable init(index: Int, generation: UInt32) {
    self.index = index
    self.generation = generation
  }
}
