package import JSON

/// JSON merge patches (RFC 7396).
///
/// In a merge patch null removes a member, so a patch cannot set one to null. Varlink treats
/// a nullable member that is absent and one that is null alike (UAPI.20, "Nullable Fields and
/// Absent Fields"), and so do these functions: members that are null count as absent, outside
/// arrays, which a patch replaces whole.
package enum MergePatch {
  /// What turns `old` into `new`: `apply(difference(old, new), to: old)` equals `normalized(new)`.
  ///
  /// An empty object if nothing changed, given objects.
  /// - Complexity: O(*n*) in the size of both.
  package static func difference(from old: JSONValue, to new: JSONValue) -> JSONValue {
    guard case .object(let oldMembers) = old, case .object(let newMembers) = new else {
      return normalized(new)
    }
    var patch: [JSONName: JSONValue] = [:]
    for (name, value) in newMembers where value != .null {
      let before = oldMembers[name] ?? .null
      if before == value { continue }
      let change = difference(from: before, to: value)
      // Two objects may differ in nulls only; an empty patch for them would say nothing.
      if change == .object([:]), case .object = before { continue }
      patch[name] = change
    }
    for (name, value) in oldMembers
    where value != .null && newMembers[name, default: .null] == .null {
      patch[name] = .null
    }
    return .object(patch)
  }

  /// The patched value, without members that are null.
  /// - Complexity: O(*n*) in the size of both.
  package static func apply(_ patch: JSONValue, to value: JSONValue) -> JSONValue {
    guard case .object(let changes) = patch else { return patch }
    var members: [JSONName: JSONValue] = [:]
    if case .object(let old) = normalized(value) { members = old }
    for (name, change) in changes {
      members[name] = change == .null ? nil : apply(change, to: members[name] ?? .null)
    }
    return .object(members)
  }

  /// The value without members that are null, at any depth outside arrays.
  package static func normalized(_ value: JSONValue) -> JSONValue {
    guard case .object(let members) = value else { return value }
    return .object(
      members.compactMapValues { member in member == .null ? nil : normalized(member) })
  }
}
