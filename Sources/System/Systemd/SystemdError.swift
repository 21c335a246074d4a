import Glibc

/// A call to libsystemd, or to the kernel on its behalf, that failed.
///
/// The error says which operation failed, on what, and with which `errno`; it never carries
/// content that a user sent.
public struct SystemdError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The operation that failed.
  public enum Operation: String, Sendable {
    case notify
    case notifyBarrier = "notify barrier"
    case storeDescriptor = "store descriptor"
    case removeDescriptors = "remove stored descriptors"
    case createMemoryFile = "create memory file"
    case readMemoryFile = "read memory file"
    case readWatchdogInterval = "read watchdog interval"
    case takeDescriptors = "take passed descriptors"
    case startThread = "start thread"
    case openJournal = "open journal"
    case matchJournal = "match journal entries"
    case seekJournal = "seek journal"
    case readJournal = "read journal"
    case waitForJournal = "wait for journal"
  }

  /// What was tried.
  public let operation: Operation

  /// The `errno` value, positive.
  public let code: Int32

  /// What it was tried on (a name, a path, a field); empty if the operation says it all.
  public let context: String

  /// Creates an error from a positive `errno` or from a negative libsystemd result.
  public init(_ operation: Operation, code: Int32, context: String = "") {
    self.operation = operation
    self.code = code.magnitude <= UInt32(Int32.max) ? Int32(code.magnitude) : EINVAL
    self.context = context
  }

  /// One line, for example `notify: Connection refused (errno 111)`.
  public var description: String {
    let subject = context.isEmpty ? operation.rawValue : "\(operation.rawValue) \(context)"
    return "\(subject): \(Self.message(code)) (errno \(code))"
  }

  private static func message(_ code: Int32) -> String {
    // Safe on any thread: since version 2.32 the C library's buffer is per thread.
    strerror(code).map { String(cString: $0) } ?? "unknown error"
  }
}
