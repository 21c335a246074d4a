/// An interface as described by its definition text (UAPI.20, "Interface Definition").
package struct InterfaceDescription: Sendable, Equatable {
  /// The reverse domain name, such as `org.example.ftl`.
  package let name: String
  /// The comment before the keyword `interface`, without one space after each `#`.
  package let documentation: String
  /// The types, methods and errors, in the order of the text.
  package let members: [Member]
  /// The text that was parsed, byte for byte.
  package let text: String
  /// The constructs that the grammar of UAPI.20 allows but the parser of systemd 257 (`varlinkctl
  /// validate-idl`) rejects. Empty if that tool also accepts the text.
  package let systemdViolations: [DescriptionError]

  /// A named type, a method or an error.
  package struct Member: Sendable, Equatable {
    package let name: String
    package let documentation: String
    package let kind: Kind
  }

  package enum Kind: Sendable, Equatable {
    /// A structure or an enumeration.
    case type(FieldType)
    case method(input: [Field], output: [Field])
    case error([Field])
  }

  /// A field of a structure, a parameter, or a value of an enumeration.
  package struct Field: Sendable, Equatable {
    package let name: String
    package let documentation: String
    package let type: FieldType

    package init(name: String, documentation: String, type: FieldType) {
      self.name = name
      self.documentation = documentation
      self.type = type
    }
  }

  /// A value of an enumeration.
  package struct EnumerationValue: Sendable, Equatable {
    package let name: String
    package let documentation: String
  }

  package indirect enum FieldType: Sendable, Equatable {
    case bool, int, float, string, object, any
    case named(String)
    case structure([Field])
    case enumeration([EnumerationValue])
    case array(FieldType)
    case dictionary(FieldType)
    case nullable(FieldType)
  }
}

extension InterfaceDescription {
  /// The names of the methods, in the order of the text.
  package var methodNames: [String] {
    members.compactMap { if case .method = $0.kind { $0.name } else { nil } }
  }

  /// The names of the errors, in the order of the text.
  package var errorNames: [String] {
    members.compactMap { if case .error = $0.kind { $0.name } else { nil } }
  }

  /// The names of the types, in the order of the text.
  package var typeNames: [String] {
    members.compactMap { if case .type = $0.kind { $0.name } else { nil } }
  }

  /// Returns the member with this name.
  /// - Complexity: O(*n*) in the number of members.
  package func member(_ name: String) -> Member? { members.first { $0.name == name } }
}

/// A violation of the grammar in a definition text, with its position.
package struct DescriptionError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The line, counted from 1.
  package let line: Int
  /// The column in bytes, counted from 1.
  package let column: Int
  package let message: String

  package var description: String { "\(line):\(column): \(message)" }
}
