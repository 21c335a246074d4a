/// Many small byte strings, stored in large chunks. A byte string that is allocated separately
/// could keep a whole page of otherwise free memory in use.
package struct CompactBytes {
  /// The identifier of a byte string until it is removed.
  package typealias Identifier = Int

  private struct Location {
    var chunk = 0
    var bytes = 0..<0
  }

  private struct Chunk {
    var bytes: [UInt8] = []
    /// The number of bytes in pieces that were not removed.
    var used = 0
    /// All pieces that were added to the chunk, including removed ones.
    var pieces: [Identifier] = []
  }

  private let chunkBytes: Int
  private var locations = NumberedTable<Location>()
  private var chunks: [Int: Chunk] = [:]
  /// The number of the chunk to which small pieces are added; 0 if there is none yet.
  private var current = 0
  private var newest = 0

  /// - Parameter chunkBytes: the size of an allocation, in bytes.
  package init(chunkBytes: Int = 1 << 18) { self.chunkBytes = chunkBytes }

  /// The number of allocated bytes, including those of removed pieces.
  package var heldBytes: Int { chunks.values.reduce(0) { $0 + $1.bytes.capacity } }

  package mutating func add(_ bytes: [UInt8]) -> Identifier {
    let piece = locations.add(Location())
    bytes.withUnsafeBufferPointer { put($0, as: piece) }
    return piece
  }

  private mutating func put(_ bytes: UnsafeBufferPointer<UInt8>, as piece: Identifier) {
    let number: Int
    if bytes.count > chunkBytes / 4 {
      // A large piece gets its own chunk, so that the other chunks are well filled.
      number = makeChunk(of: bytes.count)
    } else {
      while bytes.count > chunkBytes - (chunks[current]?.bytes.count ?? chunkBytes) {
        let full = current
        current = makeChunk(of: chunkBytes)
        compactChunk(full)
      }
      number = current
    }
    let start = chunks[number]?.bytes.count ?? 0
    chunks[number]?.bytes.append(contentsOf: bytes)
    chunks[number]?.used += bytes.count
    chunks[number]?.pieces.append(piece)
    locations[piece] = Location(chunk: number, bytes: start..<start + bytes.count)
  }

  private mutating func makeChunk(of bytes: Int) -> Int {
    newest += 1
    var chunk = Chunk()
    chunk.bytes.reserveCapacity(bytes)
    chunks[newest] = chunk
    return newest
  }

  package func bytes(of piece: Identifier) -> [UInt8] {
    guard let location = locations[piece], let chunk = chunks[location.chunk] else { return [] }
    return Array(chunk.bytes[location.bytes])
  }

  /// Removes a piece, whose identifier may then be reused.
  ///
  /// - Complexity: O(its bytes) on average: the rest of a chunk is moved once most of it is unused.
  package mutating func remove(_ piece: Identifier) {
    guard let location = locations[piece] else { return }
    chunks[location.chunk]?.used -= location.bytes.count
    locations.remove(piece)
    compactChunk(location.chunk)
  }

  /// Moves the pieces out of a mostly unused chunk, unless pieces are still being added to it.
  private mutating func compactChunk(_ number: Int) {
    guard number != current, let chunk = chunks[number], chunk.used <= chunk.bytes.count / 2 else {
      return
    }
    // A piece that is listed twice has already moved when it is found again.
    chunks[number] = nil
    chunk.bytes.withUnsafeBufferPointer { bytes in
      for piece in chunk.pieces {
        guard let location = locations[piece], location.chunk == number else { continue }
        put(UnsafeBufferPointer(rebasing: bytes[location.bytes]), as: piece)
      }
    }
  }
}
