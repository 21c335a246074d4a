/// The Swift source of an interface: its types, the parameters and replies of its methods, its
/// errors, the calls of a client, and its definition text.
///
/// A named structure becomes a `struct` with a memberwise initializer, in which nullable members
/// default to nil and collections to empty ones. A nullable member that is nil is omitted from
/// messages. A named enumeration becomes an `enum` of strings.
package struct GeneratedSource {
  package private(set) var text = ""

  private typealias Field = InterfaceDescription.Field
  private typealias FieldType = InterfaceDescription.FieldType

  private let description: InterfaceDescription
  private let names: SwiftNames
  private let access: String
  /// The structures written so far, which several methods may share.
  private var structures: [String: [Field]] = [:]

  package init(
    of description: InterfaceDescription, named names: SwiftNames
  ) throws(GenerationError) {
    self.description = description
    self.names = names
    access = names.access
    try checkNames()
    let modules = Set(names.types.values.compactMap(\.module))
    line("// Generated from the definition of \(description.name). Do not edit.")
    for module in modules.union(["JSON", "Varlink"]).sorted() { line("\(access) import \(module)") }
    try writeNamespace()
    for member in description.members { try write(member) }
    try writeErrors()
    try writeCalls()
  }

  /// Throws an error if the `.names` file lists something that the definition does not contain, for
  /// example after an edit of the definition.
  private func checkNames() throws(GenerationError) {
    let methods = Set(description.methodNames)
    for (label, names, known) in [
      ("type", Set(names.types.keys), Set(description.typeNames)),
      ("parameters", Set(names.parameters.keys), methods),
      ("reply", Set(names.replies.keys), methods),
      ("json", Set(names.passedAsJSON.keys), methods),
      ("by-hand", names.callsByHand, methods),
    ] {
      if let stray = names.subtracting(known).min() {
        throw GenerationError("\(label) \(stray): not in the definition")
      }
    }
  }

  private mutating func line(_ line: String = "") { text += line + "\n" }

  /// Documentation lines that declare properties which the grammar cannot express.
  private static let marks: Set = ["[Requires privileges]", "[Supports 'more' flag]"]

  private mutating func document(_ documentation: String, indent: String = "") {
    guard !documentation.isEmpty else { return }
    for part in documentation.split(separator: "\n", omittingEmptySubsequences: false) {
      if Self.marks.contains(String(part)) { continue }
      line(part.isEmpty ? "\(indent)///" : "\(indent)/// \(part)")
    }
  }

  // MARK: Types

  private mutating func write(_ member: InterfaceDescription.Member) throws(GenerationError) {
    let name = swiftName(member.name)
    switch member.kind {
    case .type where names.types[member.name]?.module != nil: break
    case .type(.enumeration(let values)):
      line()
      document(member.documentation)
      line("\(access) enum \(name): String, Codable, Sendable, CaseIterable {")
      for value in values {
        document(value.documentation, indent: "  ")
        line("  case \(escaped(value.name))")
      }
      line("}")
    case .type(.structure(let fields)):
      try writeStructure(
        name, fields, member.documentation, hasZero: names.types[member.name]?.hasZero == true)
    case .type: throw GenerationError("\(member.name): neither a structure nor an enumeration")
    case .method(let input, let output):
      if !input.isEmpty {
        try writeStructure(
          parametersName(member.name), input, "The parameters of `\(member.name)`.",
          hasZero: names.parameters[member.name]?.hasZero == true)
      }
      if !output.isEmpty {
        try writeStructure(
          replyName(member.name), output.map { passedAsJSON($0, of: member.name) },
          "The reply of `\(member.name)`.")
      }
    case .error: break
    }
  }

  /// Returns the member with its Swift type, without changing whether it is nullable.
  private func passedAsJSON(_ field: Field, of method: String) -> Field {
    guard names.passedAsJSON[method]?.contains(field.name) == true else { return field }
    var type = FieldType.object
    if case .nullable = field.type { type = .nullable(.object) }
    return Field(name: field.name, documentation: field.documentation, type: type)
  }

  private mutating func writeStructure(
    _ name: String, _ fields: [Field], _ documentation: String, hasZero: Bool = false
  ) throws(GenerationError) {
    if let known = structures[name] {
      guard known.map(\.name) == fields.map(\.name), known.map(\.type) == fields.map(\.type) else {
        throw GenerationError("\(name): two structures with different members have this name")
      }
      return
    }
    structures[name] = fields
    line()
    document(documentation)
    line("\(access) struct \(name): Codable, Sendable, Equatable {")
    for field in fields {
      document(field.documentation, indent: "  ")
      line("  \(access) var \(escaped(field.name)): \(try swiftType(field.type, of: field.name))")
    }
    line()
    line("  \(access) init(")
    let parameters = try fields.map { (field) throws(GenerationError) in
      "    \(field.name): \(try swiftType(field.type, of: field.name))"
        + (defaultValue(field.type, hasZero: hasZero).map { " = \($0)" } ?? "")
    }
    line(parameters.joined(separator: ",\n"))
    line("  ) {")
    for field in fields { line("    self.\(field.name) = \(escaped(field.name))") }
    line("  }")
    line("}")
  }

  private func swiftType(_ type: FieldType, of field: String) throws(GenerationError) -> String {
    switch type {
    case .bool: "Bool"
    case .int: "Int"
    case .float: "Double"
    case .string: "String"
    case .object, .any: "JSONValue"
    case .named(let name): swiftName(name)
    case .array(let element): "[\(try swiftType(element, of: field))]"
    case .dictionary(let element): "[String: \(try swiftType(element, of: field))]"
    case .nullable(let wrapped): "\(try swiftType(wrapped, of: field))?"
    case .structure, .enumeration:
      throw GenerationError("\(field): an anonymous type; give it a name in the definition")
    }
  }

  private func defaultValue(_ type: FieldType, hasZero: Bool) -> String? {
    switch type {
    case .nullable: "nil"
    case .array: "[]"
    case .dictionary: "[:]"
    case .bool: hasZero ? "false" : nil
    case .int, .float: hasZero ? "0" : nil
    case .string: hasZero ? "\"\"" : nil
    case .named(let name): names.types[name]?.hasZero == true ? ".init()" : nil
    case .object, .any, .structure, .enumeration: nil
    }
  }

  private func swiftName(_ name: String) -> String { names.types[name]?.name ?? name }
  private func parametersName(_ method: String) -> String {
    names.parameters[method]?.name ?? "\(method)Parameters"
  }
  private func replyName(_ method: String) -> String {
    names.replies[method]?.name ?? "\(method)Reply"
  }

  // MARK: Interface

  private mutating func writeNamespace() throws(GenerationError) {
    line()
    document(description.documentation)
    line("\(access) enum \(names.namespace) {")
    line("  \(access) static let name = \"\(description.name)\"")
    line()
    line("  /// The methods that are marked [Requires privileges].")
    let methods = description.members.filter { $0.documentation.contains("[Requires privileges]") }
    line("  \(access) static let privilegedMethods: Set<String> = [")
    for method in methods { line("    \"\(method.name)\",") }
    line("  ]")
    line()
    line("  /// The definition text of the interface.")
    line("  \(access) static let definition = #\"\"\"")
    for part in description.text.split(separator: "\n", omittingEmptySubsequences: false) {
      line(part.isEmpty ? "" : "    \(part)")
    }
    line("    \"\"\"#")
    line("}")
  }

  // MARK: Errors

  private mutating func writeErrors() throws(GenerationError) {
    var errors: [(name: String, documentation: String, fields: [Field])] = []
    for member in description.members {
      if case .error(let fields) = member.kind {
        errors.append((member.name, member.documentation, fields))
      }
    }
    line()
    line("/// The errors of `\(description.name)`.")
    line("\(access) enum \(names.errors): VarlinkErrorConvertible, Equatable, Sendable {")
    for error in errors {
      document(error.documentation, indent: "  ")
      line("  case \(lowercasingFirst(error.name))\(try payload(error.fields))")
    }
    line()
    line("  \(access) var varlinkError: VarlinkError {")
    line("    switch self {")
    for error in errors {
      let bindings = error.fields.map { "let \(escaped($0.name))" }.joined(separator: ", ")
      line(
        "    case .\(lowercasingFirst(error.name))\(error.fields.isEmpty ? "" : "(\(bindings))"):")
      line("      VarlinkError(")
      line("        name: \"\(description.name).\(error.name)\",")
      let parameters = try error.fields.map { (field) throws(GenerationError) in
        "\"\(field.name)\": \(try jsonValue(field))"
      }
      let list = parameters.isEmpty ? ":" : parameters.joined(separator: ", ")
      line("        members: [\(list)])")
    }
    line("    }")
    line("  }")
    line()
    line("  /// Makes the typed form of an error. Fails for errors of other interfaces.")
    line("  \(access) init?(_ error: VarlinkError) {")
    line("    let members = error.parameters")
    line("    switch error.name {")
    for error in errors {
      let values = try error.fields.map { (field) throws(GenerationError) in
        (error.fields.count == 1 ? "" : "\(field.name): ") + (try readValue(field))
      }
      let list = values.isEmpty ? "" : "(\(values.joined(separator: ", ")))"
      line(
        "    case \"\(description.name).\(error.name)\": self = .\(lowercasingFirst(error.name))\(list)"
      )
    }
    line("    default: return nil")
    line("    }")
    line("  }")
    line("}")
  }

  /// Returns the associated values of an error. A single value has no label, because the name of
  /// the error describes it.
  private func payload(_ fields: [Field]) throws(GenerationError) -> String {
    if fields.isEmpty { return "" }
    let members = try fields.map { (field) throws(GenerationError) in
      (fields.count == 1 ? "" : "\(field.name): ") + (try swiftType(field.type, of: field.name))
    }
    return "(\(members.joined(separator: ", ")))"
  }

  private func jsonValue(_ field: Field) throws(GenerationError) -> String {
    let name = escaped(field.name)
    switch field.type {
    case .string: return ".string(\(name))"
    case .int: return ".integer(Int64(\(name)))"
    case .bool: return ".bool(\(name))"
    case .nullable(.string): return "\(name).map { .string($0) }"
    case .nullable(.int): return "\(name).map { .integer(Int64($0)) }"
    default: throw GenerationError("\(field.name): errors can have strings, integers and Booleans")
    }
  }

  private func readValue(_ field: Field) throws(GenerationError) -> String {
    let member = "members[\"\(field.name)\"]"
    switch field.type {
    case .string: return "\(member)?.stringValue ?? \"\""
    case .int: return "Int(clamping: \(member)?.integerValue ?? 0)"
    case .bool: return "\(member)?.boolValue ?? false"
    case .nullable(.string): return "\(member)?.stringValue"
    case .nullable(.int): return "\(member)?.integerValue.map { Int(clamping: $0) }"
    default: throw GenerationError("\(field.name): errors can have strings, integers and Booleans")
    }
  }

  // MARK: Calls

  private mutating func writeCalls() throws(GenerationError) {
    line()
    line("extension \(names.client) {")
    var isFirst = true
    for member in description.members {
      guard case .method(let input, let output) = member.kind,
        !names.callsByHand.contains(member.name)
      else { continue }
      if !isFirst { line() }
      isFirst = false
      let reply = output.isEmpty ? "NoParameters" : replyName(member.name)
      let isStream = member.documentation.contains("[Supports 'more' flag]")
      document(member.documentation, indent: "  ")
      if isStream { line("  ///\n  /// Occupies the connection of this client until it ends.") }
      let parameters = try input.isEmpty ? "" : callParameters(member.name, input)
      let argument = callArgument(member.name, input)
      let path = "\"\(description.name).\(member.name)\""
      line("  \(access) func \(lowercasingFirst(member.name))(\(parameters)")
      if isStream {
        line("  ) throws(VarlinkClientError) -> ReplySequence<\(reply)> {")
        line("    try client.callMore(\(path), \(argument))")
      } else if output.isEmpty {
        line("  ) async throws(VarlinkClientError) {")
        line("    _ = try await client.call(\(path), \(argument), returning: NoParameters.self)")
      } else {
        line("  ) async throws(VarlinkClientError) -> \(reply) {")
        line("    try await client.call(\(path), \(argument))")
      }
      line("  }")
    }
    line("}")
  }

  /// Returns the parameters of a call. The first label is omitted if the method's name ends with
  /// it: `openRoom(_ room:)`, but `explain(room:view:)`.
  private func callParameters(
    _ method: String, _ fields: [Field]
  ) throws(GenerationError) -> String {
    if let whole = names.parameters[method]?.name { return "\n    _ parameters: \(whole)" }
    var parts: [String] = []
    for (index, field) in fields.enumerated() {
      let isNamed =
        index == 0 && lowercasingFirst(method).lowercased().hasSuffix(field.name.lowercased())
      let type = try swiftType(field.type, of: field.name)
      let standard = defaultValue(field.type, hasZero: false).flatMap { $0 == "nil" ? $0 : nil }
      parts.append(
        "\n    \(isNamed ? "_ " : "")\(field.name): \(type)" + (standard.map { " = \($0)" } ?? ""))
    }
    return parts.joined(separator: ",")
  }

  private func callArgument(_ method: String, _ fields: [Field]) -> String {
    if fields.isEmpty { return "NoParameters()" }
    if names.parameters[method] != nil { return "parameters" }
    let values = fields.map { "\($0.name): \(escaped($0.name))" }.joined(separator: ", ")
    return "\(parametersName(method))(\(values))"
  }

  // MARK: Words

  private func lowercasingFirst(_ name: String) -> String {
    name.prefix(1).lowercased() + name.dropFirst()
  }

  /// Returns a name in backticks if it is a keyword.
  private func escaped(_ name: String) -> String {
    Self.keywords.contains(name) ? "`\(name)`" : name
  }

  private static let keywords: Set = [
    "as", "break", "case", "catch", "class", "continue", "default", "defer", "do", "else", "enum",
    "extension", "false", "for", "func", "guard", "if", "import", "in", "init", "internal", "is",
    "let", "nil", "operator", "private", "protocol", "public", "repeat", "return", "self", "static",
    "struct", "subscript", "super", "switch", "throw", "throws", "true", "try", "var", "where",
    "while",
  ]
}
