extension KeyedCollection where Element: ObservableBranch {
  /// Adds the path of the collection if elements were inserted, removed, moved or replaced. Also
  /// adds the paths of changes inside other elements, by their keys.
  public func _$collectChanges(at path: String, into paths: inout [String]) {
    guard hasChanges else { return }
    let isStructure = { (marks: KeyedCollectionMark) in
      !marks.isDisjoint(with: [.inserted, .moved, .updated])
    }
    if changeRecord.isEverything || !changeRecord.removed.isEmpty
      || changeRecord.listed.contains(where: { isStructure(changeRecord.marks[Int($0)]) })
    {
      paths.append(path.hasSuffix(".") ? String(path.dropLast()) : path)
    }
    for slot in changeRecord.listed.map(Int.init) where changeRecord.marks[slot].contains(.entered)
    {
      contents[slot]?._$collectChanges(at: "\(path)\(tenancies[slot].id).", into: &paths)
    }
  }

  public func _$collectUnrecorded(since old: Self, at path: String, into paths: inout [String]) {
    guard !changeRecord.isEverything else { return }
    for (id, slot) in slots {
      let (slot, marks) = (Int(slot), changeRecord.marks[Int(slot)])
      guard let element = contents[slot], marks.isDisjoint(with: [.inserted, .updated]) else {
        continue
      }
      if let other = old.slots[id].flatMap({ old.contents[Int($0)] }) {
        element._$collectUnrecorded(since: other, at: "\(path)\(id).", into: &paths)
      } else {
        paths.append("\(path)\(id)")
      }
    }
  }
}
