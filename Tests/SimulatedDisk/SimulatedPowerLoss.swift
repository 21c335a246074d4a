import TestSupport

/// Which unsynced changes survive a power failure.
private enum Survival: CaseIterable {
  /// All changes, none, the earliest changes, or a random subset.
  case all, none, prefix, any
}

/// Decides for one change after another whether it survives.
private struct Choice {
  let survival: Survival
  var hasLost = false

  init(_ survival: Survival) { self.survival = survival }

  mutating func next(_ random: inout SplitMix64) -> Bool {
    let isKept =
      switch survival {
      case .all: true
      case .none: false
      case .prefix: !hasLost && !random.oneIn(4)
      case .any: random.oneIn(2)
      }
    if !isKept { hasLost = true }
    return isKept
  }
}

extension SimulatedTree {
  mutating func losePower(_ random: inout SplitMix64, _ counts: inout [DiskEvent: Int]) {
    for number in nodes.indices {
      let survival = Survival.allCases[random.pick(0..<Survival.allCases.count)]
      switch nodes[number] {
      case .file(var file):
        file.losePower(survival, pageBytes, &random, &counts)
        nodes[number] = .file(file)
      case .directory(var directory):
        directory.losePower(survival, &random, &counts)
        nodes[number] = .directory(directory)
      }
    }
  }
}

extension SimulatedTree.File {
  fileprivate mutating func losePower(
    _ survival: Survival, _ pageBytes: Int, _ random: inout SplitMix64,
    _ counts: inout [DiskEvent: Int]
  ) {
    guard current != durable else { return }
    var choice = Choice(survival)
    var isReordered = false
    // Only changed pages can reach the disk. A page that a failed sync dropped cannot reach the
    // disk, but is not distinguished here from a page that the kernel wrote back later.
    let pages = (max(current.count, durable.count) + pageBytes - 1) / pageBytes
    let size = sizeAfterLoss(survival, &random)
    let old = durable
    durable.resize(to: max(size, old.count))
    for page in 0..<pages {
      let range = page * pageBytes..<(page + 1) * pageBytes
      guard range.lowerBound < current.count, !isSame(range, as: old) else { continue }
      let isKept = choice.next(&random)
      if !isKept {
        counts[.pageLost, default: 0] += 1
      } else if survival == .any, random.oneIn(3) {
        counts[.pageTorn, default: 0] += 1
        write(range.lowerBound..<range.lowerBound + random.pick(1..<pageBytes))
      } else {
        counts[.pageKept, default: 0] += 1
        write(range)
        isReordered = isReordered || choice.hasLost
      }
    }
    if isReordered { counts[.pagesReordered, default: 0] += 1 }
    durable.resize(to: size)
    current = durable
    dirty = []
    if random.oneIn(2) { modified = durableModified }
    durableModified = modified
  }

  private func isSame(_ range: Range<Int>, as old: [UInt8]) -> Bool {
    let bytes = current[range.clamped(to: 0..<current.count)]
    return old.count >= bytes.endIndex && old[bytes.indices] == bytes
      && old[bytes.endIndex..<max(bytes.endIndex, min(range.upperBound, old.count))]
        .allSatisfy { $0 == 0 }
  }

  /// Returns the size of a file after a power failure. The size survives independently of the
  /// pages, because it is stored in the inode.
  private func sizeAfterLoss(
    _ survival: Survival, _ random: inout SplitMix64
  ) -> Int {
    switch survival {
    case .all: return current.count
    case .none: return durable.count
    case .prefix, .any:
      let (low, high) = (min(current.count, durable.count), max(current.count, durable.count))
      return [low, high, random.pick(low..<high + 1)][random.pick(0..<3)]
    }
  }
}

extension SimulatedTree.Directory {
  fileprivate mutating func losePower(
    _ survival: Survival, _ random: inout SplitMix64,
    _ counts: inout [DiskEvent: Int]
  ) {
    var choice = Choice(survival)
    for change in changes {
      let isKept = choice.next(&random)
      counts[isKept ? .entryKept : .entryLost, default: 0] += 1
      guard isKept else { continue }
      for (name, node) in change { durable[name] = node }
    }
    changes = []
    current = durable
  }
}
