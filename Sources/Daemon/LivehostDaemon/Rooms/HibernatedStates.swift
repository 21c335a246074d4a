import Compression

/// The states of packed rooms, compressed.
///
/// That of one room is mostly the names of what is in it, which are the same in all: the first one
/// serves as the example of what others have in common with it, and a state without much text takes
/// a quarter of what it takes alone.
struct HibernatedStates {
  struct State {
    fileprivate let piece: CompactBytes.Piece
    /// How many bytes it has.
    fileprivate let count: Int
  }

  private var pieces = CompactBytes()
  private var example: [UInt8] = []

  mutating func add(_ state: [UInt8]) -> State {
    let compressed = CompressedBytes(state, like: example)
    // The first cannot be its own: it is decompressed without.
    if example.isEmpty { example = Array(state.suffix(CompressedBytes.window)) }
    return State(piece: pieces.add(compressed.stored), count: compressed.count)
  }

  func bytes(of state: State) -> [UInt8] {
    CompressedBytes(stored: pieces.bytes(of: state.piece), count: state.count).bytes(like: example)
  }

  mutating func remove(_ state: State) { pieces.remove(state.piece) }
}
