import Composable

/// Sees which actions give a large collection other storage while its number of elements stays the same: they copied it.
///
/// Looks at a few actions of some turns, the fewer the longer the run.
final class CopyRecorder {
  /// What was seen of the actions of one kind.
  struct Seen {
    var looks = 0
    /// How often the collection at a path was copied, and how many bytes it had.
    var copies: [String: (count: Int, bytes: Int)] = [:]
  }

  /// Smaller collections are copied in no time.
  private static let leastBytes = 16_384
  private static let mostInTurn = 4
  /// After so many looks, half as many turns are looked at.
  private static let looksPerStride = 256

  private let reader: SizeReader
  private var counts: [Int] = []
  private var storages: [StateSizes.Storage] = []
  private var turn = 0
  private var stride = 1
  private var looks = 0
  private var inTurn = 0
  private var isLooking = false
  /// By the numbers of ``ActionKinds``.
  private(set) var seen: [Int: Seen] = [:]

  init(_ reader: SizeReader) { self.reader = reader }

  func beginTurn() {
    turn += 1
    inTurn = 0
  }

  func beginAction() {
    isLooking = turn & (stride - 1) == 0 && inTurn < Self.mostInTurn
    guard isLooking else { return }
    // After another action that was looked at, this costs nothing.
    reader.update()
    // Into the memory that is there: assigned, they would share theirs with the next look, which would copy it.
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
    seen[kind, default: Seen()].looks += 1
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
