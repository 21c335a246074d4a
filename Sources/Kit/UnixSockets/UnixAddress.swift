import Glibc

/// The address of a Unix socket.
struct UnixAddress {
  let path: String
  private var storage = sockaddr_un()

  init(_ path: String) throws(ListeningSocketError) {
    let bytes = Array(path.utf8)
    // One byte is the terminating NUL's.
    let maximum = MemoryLayout.size(ofValue: storage.sun_path) - 1
    guard bytes.count <= maximum else { throw .pathTooLong(path: path, maximum: maximum) }
    self.path = path
    storage.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &storage.sun_path) { $0.copyBytes(from: bytes) }
  }

  func call(
    _ function: (Int32, UnsafePointer<sockaddr>?, socklen_t) -> Int32, _ descriptor: Int32
  ) -> Int32 {
    withUnsafePointer(to: storage) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        function(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
  }
}
