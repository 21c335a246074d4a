package import Glibc

/// The address of a Unix socket.
package struct UnixAddress {
  /// The path has more than ``UnixAddress/maximumPathBytes``.
  package struct PathTooLong: Error {}

  /// The maximum length of a path in bytes, without the terminating NUL.
  package static let maximumPathBytes =
    MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1

  package let path: String
  private var storage = sockaddr_un()

  package init(_ path: String) throws(PathTooLong) {
    let bytes = Array(path.utf8)
    guard bytes.count <= Self.maximumPathBytes else { throw PathTooLong() }
    self.path = path
    storage.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &storage.sun_path) { $0.copyBytes(from: bytes) }
  }

  /// Calls `bind(2)` or `connect(2)` on a socket and returns the result.
  package func call(
    _ function: (Int32, UnsafePointer<sockaddr>?, socklen_t) -> Int32, _ descriptor: Int32
  ) -> Int32 {
    withUnsafePointer(to: storage) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        function(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
  }
}
