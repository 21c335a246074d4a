package import JSON

/// Computes and applies JSON merge patches (RFC 7396).
///
/// In a merge patch, null removes a member, so a patch cannot set a member to null. Varlink treats
/// an absent nullable member like null (UAPI.20, "Nullable Fields and Absent Fields").
/// ``MergePatch`` therefore treats members that are null as absent. Members inside arrays are an
/// exception, because a patch always replaces an entire array.
package enum MergePatch {
  /// Returns the patch from `old` to `new`: `apply(difference(old, new), to: old)` equals
  /// `normalized(new)`. The patch between equal objects is an empty object.
  ///
  /// - Complexity: O(*n*) in the size of both values.
  package static func difference(from old: JSONValue, to new: JSONValue) -> JSONValue {
    guard case .object(let oldMembers) = old, case .object(let newMembers) = new else {
      return normalized(new)
    }
    var patch: [JSONName: JSONValue] = [:]
    for (name, value) in newMembers where value != .null {
      let before = oldMembers[name] ?? .null
      if before == value { continue }
      let change = difference(from: before, to: value)
      // If two objects differ only in members with the value null, the patch between them is empty
      // and is omitted.
      if change == .object([:]), case .object = before { continue }
      patch[name] = change
    }
    for (name, value) in oldMembers
    where value != .null && newMembers[name, default: .null] == .null {
      patch[name] = .null
    }
    return .object(patch)
  }

  /// Applies a patch to a value, and returns the result without null members, in O(*n*) for *n*
  /// members of the value and the patch.
  package static func apply(_ patch: JSONValue, to value: JSONValue) -> JSONValue {
    guard case .object(let changes) = patch else { return patch }
    var members: [JSONName: JSONValue] = [:]
    if case .object(let old) = normalized(value) { members = old }
    for (name, change) in changes {
      members[name] = change == .null ? nil : apply(change, to: members[name] ?? .null)
    }
    return .object(members)
  }

  /// Returns the value without null members, at any depth outside arrays.
  package static func normalized(_ value: JSONValue) -> JSONValue {
    guard case .object(let members) = value else { return value }
    return .object(
      members.compactMapValues { member in member == .null ? nil : normalized(member) })
  }
}
