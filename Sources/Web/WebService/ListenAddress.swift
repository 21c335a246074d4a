import Glibc

/// An IP address to listen on.
package struct ListenAddress: Sendable, Equatable {
  /// The address as the host of a URL.
  package let host: String
  /// Whether only programs of this machine can connect.
  package let isLoopback: Bool
  /// Whether the address stands for all addresses of the machine.
  package let isWildcard: Bool

  /// The host names under which browsers may request the page because of this address. The two
  /// usual loopback addresses are always permitted, but only with the right port.
  package var hosts: [String] {
    isWildcard || ["127.0.0.1", "[::1]"].contains(host) ? [] : [host]
  }

  /// Fails if `text` is not an IPv4 or IPv6 address.
  package init?(_ text: String) {
    var (four, six) = (in_addr(), in6_addr())
    if inet_pton(AF_INET, text, &four) == 1 {
      let bytes = withUnsafeBytes(of: four) { Array($0) }
      (host, isLoopback, isWildcard) = (text, bytes[0] == 127, bytes.allSatisfy { $0 == 0 })
    } else if inet_pton(AF_INET6, text, &six) == 1 {
      let bytes = withUnsafeBytes(of: six) { Array($0) }
      let isZero = bytes.dropLast().allSatisfy { $0 == 0 }
      host = "[\(text)]"
      (isLoopback, isWildcard) = (isZero && bytes[15] == 1, isZero && bytes[15] == 0)
    } else {
      return nil
    }
  }
}
