package import JSON
package import VarlinkDescription

extension InterfaceDescription {
  /// Finds the first parameter that does not match its declaration: unknown, missing, or of another
  /// type.
  ///
  /// Unknown members are errors both at the top level and inside structures (UAPI.20, "Unknown
  /// Fields"). A nullable field may be absent or null.
  /// - Returns: The name of the offending top-level parameter, or nil if all match.
  /// - Complexity: O(*n*) in the size of the value.
  package func mismatch(of parameters: [JSONName: JSONValue], against fields: [Field]) -> String? {
    var known = 0
    for field in fields {
      let value = parameters[JSONName(field.name)]
      if !matches(value, field.type) { return field.name }
      if value != nil { known += 1 }
    }
    if known == parameters.count { return nil }
    let names = Set(fields.map { JSONName($0.name) })
    return parameters.keys.lazy.filter { !names.contains($0) }.min()?.text
  }

  private func matches(_ value: JSONValue?, _ type: FieldType) -> Bool {
    if case .nullable(let wrapped) = type {
      guard let value, value != .null else { return true }
      return matches(value, wrapped)
    }
    guard let value else { return false }
    switch type {
    case .bool: return value.boolValue != nil
    case .int: return value.integerValue != nil
    case .float:
      if case .number = value { return true }
      return value.integerValue != nil
    case .string: return value.stringValue != nil
    case .object: return value.objectValue != nil
    case .any: return value != .null
    case .named(let name):
      guard let member = member(name), case .type(let type) = member.kind else { return false }
      return matches(value, type)
    case .structure(let fields):
      guard let members = value.objectValue else { return false }
      return mismatch(of: members, against: fields) == nil
    case .enumeration(let values):
      guard let text = value.stringValue else { return false }
      return values.contains { JSONName($0.name) == JSONName(text) }
    case .array(let element):
      guard let elements = value.arrayValue else { return false }
      return elements.allSatisfy { matches($0, element) }
    case .dictionary(let element):
      guard let members = value.objectValue else { return false }
      return members.values.allSatisfy { matches($0, element) }
    case .nullable: return false  // handled above; a nullable cannot be nested in a nullable
    }
  }
}
