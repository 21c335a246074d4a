/// The storage location of an element of a ``KeyedCollection`` while the element exists.
///
/// To keep data per element (an observer, a row), index an array by ``index``. The indices are
/// dense and are reused after a removal; the generation distinguishes the old element from the new
/// one. A slot is valid only in the collection that returned it.
public struct KeyedSlot: Hashable, Sendable {
  /// The index: at least 0 and less than ``KeyedCollection/slotLimit``.
  public let index: Int
  /// The number of elements that used the slot before, modulo 2^32.
  public let generation: UInt32

  @inlinable init(index: Int, generation: UInt32) {
    self.index = index
    self.generation = generation
  }
}
