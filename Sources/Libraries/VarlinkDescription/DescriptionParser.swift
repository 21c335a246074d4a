extension InterfaceDescription {
  /// The maximum nesting depth of anonymous types.
  static let maximumDepth = 64

  /// Parses a definition text. Accepts the grammar of UAPI.20. Names must be well-formed and
  /// unique, and every named type must be defined in the text.
  package init(parsing text: String) throws(DescriptionError) {
    var parser = try DescriptionParser(text)
    self = try parser.interface(text: text)
  }
}

struct DescriptionParser {
  typealias Field = InterfaceDescription.Field
  typealias FieldType = InterfaceDescription.FieldType

  private var scanner: DescriptionScanner
  private var token: DescriptionToken
  private var violations: [DescriptionError] = []
  /// The uses of named types, which are checked when all types are known.
  private var references: [(name: String, at: DescriptionToken)] = []

  init(_ text: String) throws(DescriptionError) {
    scanner = DescriptionScanner(text)
    token = try scanner.next()
  }

  mutating func interface(text: String) throws(DescriptionError) -> InterfaceDescription {
    let documentation = try comments()
    guard token.kind == .word("interface") else { throw failure("expected 'interface'") }
    token = try scanner.next(asInterfaceName: true)
    let name = try word("an interface name", isValid: DescriptionNames.isInterface)
    var members: [InterfaceDescription.Member] = []
    var typeNames: Set<String> = []
    while true {
      let documentation = try comments()
      if token.kind == .end { break }
      let start = token
      let member = try member(documentation)
      if members.contains(where: { $0.name == member.name }) {
        throw failure("'\(member.name)' is defined twice", at: start)
      }
      if case .type = member.kind { typeNames.insert(member.name) }
      members.append(member)
    }
    for reference in references where !typeNames.contains(reference.name) {
      throw failure("no type is named '\(reference.name)'", at: reference.at)
    }
    return InterfaceDescription(
      name: name, documentation: documentation, members: members, text: text,
      systemdViolations: violations)
  }

  private mutating func member(
    _ documentation: String
  ) throws(DescriptionError) -> InterfaceDescription.Member {
    let keyword = token
    try advance()
    switch keyword.kind {
    case .word("type"):
      let name = try memberName()
      let type = try structureOrEnumeration(depth: 0)
      if case .structure([]) = type { violate("a named type must have fields", at: keyword) }
      return .init(name: name, documentation: documentation, kind: .type(type))
    case .word("method"):
      let name = try memberName()
      let input = try structure()
      try skipMisplacedComments()
      try expect("->")
      let output = try structure()
      return .init(
        name: name, documentation: documentation, kind: .method(input: input, output: output))
    case .word("error"):
      let name = try memberName()
      return .init(name: name, documentation: documentation, kind: .error(try structure()))
    case .word, .symbol, .comment, .end:
      throw failure("expected 'type', 'method' or 'error'", at: keyword)
    }
  }

  private mutating func memberName() throws(DescriptionError) -> String {
    try skipMisplacedComments()
    return try word("a name starting with a capital", isValid: DescriptionNames.isMember)
  }

  private mutating func structure() throws(DescriptionError) -> [Field] {
    let start = token
    guard case .structure(let fields) = try structureOrEnumeration(depth: 0) else {
      throw failure("expected fields with types", at: start)
    }
    return fields
  }

  /// Parses `(name: type, ...)` or `(name, ...)`. The token after the first name distinguishes
  /// structures from enumerations.
  private mutating func structureOrEnumeration(
    depth: Int
  ) throws(DescriptionError) -> FieldType {
    if depth > InterfaceDescription.maximumDepth { throw failure("nested too deeply") }
    try skipMisplacedComments()
    try expect("(")
    var fields: [Field] = []
    var values: [InterfaceDescription.EnumerationValue] = []
    var documentation = try comments()
    if token.kind == .symbol(")") {
      try advance()
      return .structure([])
    }
    while true {
      let start = token
      let name = try word("a field name", isValid: DescriptionNames.isField)
      if fields.contains(where: { $0.name == name }) || values.contains(where: { $0.name == name })
      {
        throw failure("'\(name)' appears twice", at: start)
      }
      try skipMisplacedComments()
      if token.kind == .symbol(":"), values.isEmpty {
        try advance()
        try skipMisplacedComments()
        let type = try fieldType(depth: depth)
        fields.append(.init(name: name, documentation: documentation, type: type))
      } else if fields.isEmpty {
        values.append(.init(name: name, documentation: documentation))
      } else {
        throw failure("expected ':'")
      }
      try skipMisplacedComments()
      if token.kind == .symbol(")") { break }
      try expect(",")
      documentation = try comments()
    }
    try advance()
    return fields.isEmpty ? .enumeration(values) : .structure(fields)
  }

  private mutating func fieldType(depth: Int) throws(DescriptionError) -> FieldType {
    let start = token
    switch token.kind {
    case .symbol("?"):
      try advance()
      if token.kind == .symbol("?") { throw failure("'?' appears twice") }
      return .nullable(try fieldType(depth: depth + 1))
    case .symbol("[]"), .symbol("[string]"):
      try advance()
      let element = try fieldType(depth: depth + 1)
      switch element {
      case .array, .dictionary, .nullable:
        violate("an element of a collection may be neither a collection nor nullable", at: start)
      case .bool, .int, .float, .string, .object, .any, .named, .structure, .enumeration: break
      }
      return start.kind == .symbol("[]") ? .array(element) : .dictionary(element)
    case .symbol("("):
      let type = try structureOrEnumeration(depth: depth + 1)
      if case .structure([]) = type { violate("an anonymous type must have fields", at: start) }
      return type
    case .word(let word):
      try advance()
      return try elementType(word, at: start)
    case .symbol, .comment, .end:
      throw failure("expected a type")
    }
  }

  private mutating func elementType(
    _ word: String, at start: DescriptionToken
  ) throws(DescriptionError) -> FieldType {
    switch word {
    case "bool": return .bool
    case "int": return .int
    case "float": return .float
    case "string": return .string
    case "object": return .object
    case "any":
      violate("'any' is not supported by systemd 257", at: start)
      return .any
    default:
      guard DescriptionNames.isMember(word) else { throw failure("no such type", at: start) }
      references.append((word, start))
      return .named(word)
    }
  }
}

extension DescriptionParser {
  private func failure(_ message: String, at location: DescriptionToken? = nil) -> DescriptionError
  {
    let location = location ?? token
    return DescriptionError(line: location.line, column: location.column, message: message)
  }

  private mutating func violate(_ message: String, at location: DescriptionToken) {
    violations.append(failure(message, at: location))
  }

  private mutating func advance() throws(DescriptionError) { token = try scanner.next() }

  private mutating func expect(_ symbol: String) throws(DescriptionError) {
    guard token.kind == .symbol(symbol) else { throw failure("expected '\(symbol)'") }
    try advance()
  }

  private mutating func word(
    _ expectation: String, isValid: (String) -> Bool
  ) throws(DescriptionError) -> String {
    guard case .word(let word) = token.kind, isValid(word) else {
      throw failure("expected \(expectation)")
    }
    try advance()
    return word
  }

  /// Parses comments where documentation is allowed, and returns them joined by line breaks.
  private mutating func comments() throws(DescriptionError) -> String {
    var lines: [String] = []
    while case .comment(let text) = token.kind {
      lines.append(text)
      try advance()
    }
    return lines.joined(separator: "\n")
  }

  /// Skips comments where the grammar of UAPI.20 allows only white space.
  private mutating func skipMisplacedComments() throws(DescriptionError) {
    while case .comment = token.kind {
      violate("a comment appears inside a declaration, not before a field", at: token)
      try advance()
    }
  }
}

enum DescriptionNames {
  /// Returns whether the name matches `[A-Z][A-Za-z0-9]*`.
  static func isMember(_ name: String) -> Bool {
    guard let first = name.utf8.first, (0x41...0x5A).contains(first) else { return false }
    return name.utf8.allSatisfy {
      DescriptionScanner.isLetter($0) || DescriptionScanner.isDigit($0)
    }
  }

  /// Returns whether the name matches `[A-Za-z](_?[A-Za-z0-9])*`.
  static func isField(_ name: String) -> Bool {
    guard let first = name.utf8.first, DescriptionScanner.isLetter(first) else { return false }
    return name.utf8.last != UInt8(ascii: "_") && !name.contains("__")
      && name.utf8.allSatisfy {
        DescriptionScanner.isLetter($0) || DescriptionScanner.isDigit($0) || $0 == 0x5F
      }
  }

  /// Returns whether the name matches
  /// `[A-Za-z]([-]*[A-Za-z0-9])*(\.[A-Za-z0-9]([-]*[A-Za-z0-9])*)+`.
  static func isInterface(_ name: String) -> Bool {
    let parts = name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard parts.count > 1, let first = name.utf8.first, DescriptionScanner.isLetter(first) else {
      return false
    }
    return parts.allSatisfy { part in
      part.first != nil && part.first != UInt8(ascii: "-") && part.last != UInt8(ascii: "-")
        && part.allSatisfy {
          DescriptionScanner.isLetter($0) || DescriptionScanner.isDigit($0) || $0 == 0x2D
        }
    }
  }
}
