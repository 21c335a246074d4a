/// Makes an optional child observable: its presence at its node, its fields at nodes below.
extension Optional: ObservableBranch where Wrapped: ObservableBranch {
  @inlinable
  public mutating func _$enter(stamp: UInt64) -> UInt64 {
    // 0 means `nil`. Stamps are odd, so no stamp is 0.
    if self == nil { 0 } else { self!._$enter(stamp: stamp) }
  }

  @inlinable
  public mutating func _$leave(token: UInt64) -> Bool {
    if self == nil { token == 0 } else { self!._$leave(token: token) && token != 0 }
  }

  @inlinable
  public mutating func _$drain(into node: ObservationNode?, replaced: Bool) -> Bool {
    guard self != nil else {
      if replaced { node?.vanish() }
      return replaced
    }
    let changed = self!._$drain(into: node, replaced: replaced)
    node?.reportPresence(true)
    return changed
  }

  public func _$collectChanges(at path: String, into paths: inout [String]) {
    self?._$collectChanges(at: path, into: &paths)
  }

  public func _$collectUnrecorded(since old: Self, at path: String, into paths: inout [String]) {
    switch (self, old) {
    case (.some(let new), .some(let old)):
      new._$collectUnrecorded(since: old, at: path, into: &paths)
    case (.none, .none): break
    default: paths.append(path + "(presence)")
    }
  }

  @inlinable
  public func _$collectSizes(into sizes: inout StateSizes) { self?._$collectSizes(into: &sizes) }
}
