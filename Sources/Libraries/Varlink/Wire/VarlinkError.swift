package import JSON

/// An error reply, which handlers throw and clients catch. For the errors of your own interface,
/// define a type that conforms to ``VarlinkErrorConvertible``.
package struct VarlinkError: Error, Equatable, Sendable {
  /// The fully qualified name, such as `org.example.ftl.NotEnoughEnergy`.
  package let name: String
  package let parameters: [JSONName: JSONValue]

  package init(name: String, parameters: [JSONName: JSONValue] = [:]) {
    self.name = name
    self.parameters = parameters
  }

  /// Makes an error reply, and omits the members that are nil.
  package init(name: String, members: [JSONName: JSONValue?]) {
    self.init(name: name, parameters: members.compactMapValues(\.self))
  }
}

/// A typed error of an interface. A handler that throws it replies with its ``varlinkError``.
package protocol VarlinkErrorConvertible: Error {
  var varlinkError: VarlinkError { get }
}

extension VarlinkError: VarlinkErrorConvertible {
  package var varlinkError: VarlinkError { self }
}

/// The errors of `org.varlink.service`, which any method of any interface may return. The errors
/// contain names that the client sent. A name is truncated to ``maximumNameBytes`` in the reply:
/// otherwise, a name could be as long as a whole message, and each invalid call would cost the
/// server that much memory.
package enum ServiceError: VarlinkErrorConvertible, Equatable, Sendable {
  case interfaceNotFound(String)
  /// The interface is known but does not define the method.
  case methodNotFound(String)
  /// The interface defines the method, but this service does not implement it.
  case methodNotImplemented(String)
  /// A parameter is missing, unknown, of the wrong type or out of range.
  case invalidParameter(String)
  case permissionDenied
  /// The method requires the flag `more`.
  case expectedMore
  /// The method requires the flag `upgrade`.
  case expectedUpgrade

  static let prefix = "org.varlink.service."

  /// The maximum length of a name in an error reply, in UTF-8 bytes; existing names are shorter.
  package static let maximumNameBytes = 256

  package var varlinkError: VarlinkError {
    switch self {
    case .interfaceNotFound(let name): Self.error("InterfaceNotFound", ["interface": name])
    case .methodNotFound(let name): Self.error("MethodNotFound", ["method": name])
    case .methodNotImplemented(let name): Self.error("MethodNotImplemented", ["method": name])
    case .invalidParameter(let name): Self.error("InvalidParameter", ["parameter": name])
    case .permissionDenied: Self.error("PermissionDenied", [:])
    case .expectedMore: Self.error("ExpectedMore", [:])
    case .expectedUpgrade: Self.error("ExpectedUpgrade", [:])
    }
  }

  private static func error(_ name: String, _ parameters: [JSONName: String]) -> VarlinkError {
    VarlinkError(name: prefix + name, parameters: parameters.mapValues { .string(cut($0)) })
  }

  /// Returns the longest prefix of whole scalars within ``maximumNameBytes``. Characters may be
  /// split, because a character can have any number of scalars.
  private static func cut(_ name: String) -> String {
    let bytes = name.utf8
    guard
      var end = bytes.index(
        bytes.startIndex, offsetBy: maximumNameBytes, limitedBy: bytes.endIndex)
    else { return name }
    while end.samePosition(in: name.unicodeScalars) == nil { bytes.formIndex(before: &end) }
    return String(name[..<end])
  }

  /// Makes the typed form of a received error. Fails if the error does not belong to
  /// `org.varlink.service`, or lacks its parameter.
  package init?(_ error: VarlinkError) {
    func text(_ name: JSONName) -> String? { error.parameters[name]?.stringValue }
    guard error.name.hasPrefix(Self.prefix) else { return nil }
    switch error.name.dropFirst(Self.prefix.count) {
    case "InterfaceNotFound":
      guard let name = text("interface") else { return nil }
      self = .interfaceNotFound(name)
    case "MethodNotFound":
      guard let name = text("method") else { return nil }
      self = .methodNotFound(name)
    case "MethodNotImplemented":
      guard let name = text("method") else { return nil }
      self = .methodNotImplemented(name)
    case "InvalidParameter":
      guard let name = text("parameter") else { return nil }
      self = .invalidParameter(name)
    case "PermissionDenied": self = .permissionDenied
    case "ExpectedMore": self = .expectedMore
    case "ExpectedUpgrade": self = .expectedUpgrade
    default: return nil
    }
  }
}
