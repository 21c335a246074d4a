import Composable

/// Detects actions that copy a large collection: its storage moves while its element count stays
/// the same. Samples up to four actions in some turns, and fewer as the run gets longer.
final class CopyRecorder {
  struct CopySamples {
    var looks = 0
    /// How often the collection at each path was copied, and its largest size in bytes.
    var copies: [String: (count: Int, bytes: Int)] = [:]
  }

  /// Smaller collections are ignored because copying them is cheap.
  private static let leastBytes = 16_384
  private static let mostInTurn = 4
  /// The number of samples after which the share of sampled turns is halved, each time.
  private static let looksPerStride = 256

  private let reader: SizeReader
  private var counts: [Int] = []
  private var storages: [StateSizes.Storage] = []
  private var turn = 0
  private var stride = 1
  private var looks = 0
  private var inTurn = 0
  private var isLooking = false
  /// The samples by action number (``ActionKinds``).
  private(set) var seen: [Int: CopySamples] = [:]

  init(_ reader: SizeReader) { self.reader = reader }

  func beginTurn() {
    turn += 1
    inTurn = 0
  }

  func beginAction() {
    isLooking = turn & (stride - 1) == 0 && inTurn < Self.mostInTurn
    guard isLooking else { return }
    // If the previous action was sampled, the sizes are current and the update costs nothing.
    reader.update()
    // Reuses the existing memory. Assigning the arrays would share their storage, and the next
    // update would copy it.
    counts.removeAll(keepingCapacity: true)
    counts += reader.sizes.counts
    storages.removeAll(keepingCapacity: true)
    storages += reader.sizes.storages
  }

  func endAction(_ kind: Int) {
    guard isLooking else { return }
    isLooking = false
    inTurn += 1
    looks += 1
    if looks.isMultiple(of: Self.looksPerStride) { stride *= 2 }
    reader.update()
    seen[kind, default: CopySamples()].looks += 1
    for index in counts.indices where isCopied(index) {
      let path = reader.sizes.paths[index]
      let copy = seen[kind]?.copies[path] ?? (0, 0)
      let bytes = counts[index] * storages[index].stride
      seen[kind]?.copies[path] = (copy.count + 1, max(copy.bytes, bytes))
    }
  }

  private func isCopied(_ index: Int) -> Bool {
    let (old, new) = (storages[index], reader.sizes.storages[index])
    return counts[index] == reader.sizes.counts[index] && old.address != new.address
      && old.address != 0
      && new.address != 0 && counts[index] * old.stride >= Self.leastBytes
  }
}
