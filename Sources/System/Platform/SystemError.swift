import Glibc

/// A call to the kernel, or to a library of the system, that failed.
///
/// The error says which operation failed, on what, and with which `errno`; it never carries
/// content that a user sent.
package struct SystemError: Error, Sendable, Equatable, CustomStringConvertible {
  /// What was tried, as a message names it. Modules that call the system add their own.
  package struct Operation: Sendable, Equatable {
    package let name: String
    package init(_ name: String) { self.name = name }

    package static let startThread = Operation("start thread")
    package static let makeEvent = Operation("make event")
  }

  /// What was tried.
  package let operation: Operation

  /// The `errno` value, positive.
  package let code: Int32

  /// What it was tried on (a name, a path, a field); empty if the operation says it all.
  package let context: String

  /// Creates an error from a positive `errno` or from a negative result of a library.
  package init(_ operation: Operation, code: Int32, context: String = "") {
    self.operation = operation
    self.code = code.magnitude <= UInt32(Int32.max) ? Int32(code.magnitude) : EINVAL
    self.context = context
  }

  /// One line, for example `notify: Connection refused (errno 111)`.
  package var description: String {
    let subject = context.isEmpty ? operation.name : "\(operation.name) \(context)"
    return "\(subject): \(Self.message(code)) (errno \(code))"
  }

  private static func message(_ code: Int32) -> String {
    // Safe on any thread: since version 2.32 the C library's buffer is per thread.
    strerror(code).map { String(cString: $0) } ?? "unknown error"
  }
}
