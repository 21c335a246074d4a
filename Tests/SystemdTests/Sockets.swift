import Glibc

/// Socket calls with Swift arguments, for the tests.
enum Sockets {
  /// Returns a socket bound to an address that the kernel chooses.
  static func make(
    _ family: Int32, _ type: __socket_type, listening: Bool
  ) -> Int32 {
    let descriptor = socket(family, Int32(type.rawValue), 0)
    if listening {
      if family == AF_UNIX {
        // Only the family is passed, so the kernel chooses an abstract name (unix(7), autobind).
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        _ = withUnsafePointer(to: &address) { pointer in
          pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            Glibc.bind(descriptor, $0, socklen_t(MemoryLayout<sa_family_t>.size))
          }
        }
      }
      _ = listen(descriptor, 1)
    }
    return descriptor
  }
}
