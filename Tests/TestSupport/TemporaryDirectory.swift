import Foundation

/// A new directory, which is removed with its contents when the object is released.
///
/// Store the object in a property of the suite. A local variable may be released before the last
/// use of its path.
public final class TemporaryDirectory: Sendable {
  /// The path of the directory, short enough for sockets in the directory.
  public let path: String

  /// - Parameter parent: the parent directory, by default the system's directory for temporary
  /// files.
  public init(in parent: String? = nil) {
    path = NSString(string: parent ?? NSTemporaryDirectory()).appendingPathComponent(
      "livehost-\(UUID().uuidString.prefix(8))")
    do {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    } catch {
      preconditionFailure("cannot make \(path): \(error)")
    }
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }
}
