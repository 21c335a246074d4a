import Foundation
import Glibc

/// A separate file system of one megabyte, which is removed at the end of the test.
public final class SmallDisk {
  /// Whether this process may mount file systems. Only root can, and only in some containers.
  public static let isAvailable = getuid() == 0 && (try? SmallDisk()) != nil

  public struct NotMounted: Error {
    public let code: Int32
  }

  public let path: String

  /// - Parameter flags: flags of mount(2), such as `MS_RDONLY`.
  public init(flags: Int = 0) throws {
    path = NSTemporaryDirectory() + "small-disk-\(UUID().uuidString.prefix(8))"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    guard mount("tmpfs", path, "tmpfs", UInt(flags), "size=1m,mode=700") == 0 else {
      let code = errno
      try? FileManager.default.removeItem(atPath: path)
      throw NotMounted(code: code)
    }
  }

  deinit {
    umount2(path, Int32(MNT_DETACH))
    rmdir(path)
  }
}
