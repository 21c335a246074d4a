import Compression

/// The compressed states of hibernated rooms.
///
/// A state consists mostly of member names, which are the same in all rooms. The first state
/// therefore serves as the dictionary for compressing the others, which reduces a state without
/// much text to a quarter of its size.
struct HibernatedStates {
  struct State {
    fileprivate let piece: CompactBytes.Identifier
    /// The number of bytes of the decompressed state.
    fileprivate let count: Int
  }

  private var pieces = CompactBytes()
  private var example: [UInt8] = []

  mutating func add(_ state: [UInt8]) -> State {
    let compressed = CompressedBytes(state, like: example)
    // The first state is compressed without a dictionary, because it becomes the dictionary.
    if example.isEmpty { example = Array(state.suffix(CompressedBytes.window)) }
    return State(piece: pieces.add(compressed.stored), count: compressed.count)
  }

  func bytes(of state: State) -> [UInt8] {
    CompressedBytes(stored: pieces.bytes(of: state.piece), count: state.count).bytes(like: example)
  }

  mutating func remove(_ state: State) { pieces.remove(state.piece) }
}
