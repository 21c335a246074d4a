import Glibc

/// A failed call to the kernel or to a system library: the operation, its subject and the `errno`,
/// without text from a user.
package struct SystemError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The name of an operation, for messages. Modules that call the system add their own operations.
  package struct Operation: Sendable, Equatable {
    package let name: String
    package init(_ name: String) { self.name = name }

    package static let startThread = Operation("start thread")
    package static let makeEvent = Operation("make event")
  }

  package let operation: Operation

  /// The positive `errno` value.
  package let code: Int32

  /// The subject of the operation, such as a name, a path or a field. Empty if there is none.
  package let context: String

  /// Creates an error from a positive `errno` or from the negative result of a library function.
  package init(_ operation: Operation, code: Int32, context: String = "") {
    self.operation = operation
    self.code = code.magnitude <= UInt32(Int32.max) ? Int32(code.magnitude) : EINVAL
    self.context = context
  }

  /// A line such as `notify: Connection refused (errno 111)`.
  package var description: String {
    let subject = context.isEmpty ? operation.name : "\(operation.name) \(context)"
    return "\(subject): \(Self.message(code)) (errno \(code))"
  }

  private static func message(_ code: Int32) -> String {
    // `strerror` is thread-safe: since version 2.32, glibc uses a buffer per thread.
    strerror(code).map { String(cString: $0) } ?? "unknown error"
  }
}
