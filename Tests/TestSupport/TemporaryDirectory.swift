import Foundation

/// A new directory, which is removed with everything in it when the object is released.
///
/// Make it a property of the suite: a local variable may be released before the last use of its path.
public final class TemporaryDirectory: Sendable {
  /// Short enough for the path of a socket in it.
  public let path: String

  /// - Parameter parent: by default the system's directory for temporary files.
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
