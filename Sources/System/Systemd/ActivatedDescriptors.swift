import CSystemd
import Glibc
package import SystemSupport

/// The listening sockets that the service manager passed to this process (`sd_listen_fds(3)`).
package struct ActivatedDescriptors: Sendable, Equatable {
  /// The reason why the passed descriptors cannot be used.
  package enum Failure: Error, Sendable, Equatable, CustomStringConvertible {
    /// The environment variables are malformed, or the descriptors are not open.
    case system(SystemError)
    /// A descriptor is not a listening stream socket (Unix, IPv4 or IPv6).
    case unusable(name: String, descriptor: Int32)
    /// The service manager passed `count` descriptors under a name that must have only one.
    case ambiguous(name: String, count: Int)

    /// A line that says what to change.
    package var description: String {
      switch self {
      case .system(let error):
        error.description
      case .unusable(let name, let descriptor):
        "passed descriptor \(descriptor) (\(name)) is not a listening stream socket"
      case .ambiguous(let name, let count):
        "\(count) sockets were passed under the name \(name), where one is expected"
      }
    }
  }

  /// The listening stream sockets by `FileDescriptorName=`, each list in the order passed. Without
  /// that setting, a socket unit passes its own name.
  package private(set) var sockets: [String: [Int32]] = [:]

  /// Returns the passed descriptors, which the caller then owns. Call this once, before other
  /// threads read the environment. Sets close-on-exec and removes the environment variables, so
  /// that neither a child process nor a second call sees the descriptors.
  package static func take() throws(Failure) -> ActivatedDescriptors {
    var rawNames: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
    let count = sd_listen_fds_with_names(1, &rawNames)
    guard count >= 0 else { throw .system(SystemError(.takeDescriptors, code: count)) }
    guard count > 0, let rawNames else { return ActivatedDescriptors() }
    defer { free(rawNames) }
    var passed: [(name: String, descriptor: Int32)] = []
    for index in 0..<Int(count) {
      guard let name = rawNames[index] else { break }
      passed.append((String(cString: name), SD_LISTEN_FDS_START + Int32(index)))
      free(name)
    }
    return try ActivatedDescriptors(sorting: passed)
  }

  /// Sorts descriptors by name.
  ///
  /// - Throws: ``Failure/unusable(name:descriptor:)`` for a descriptor that is not a listening
  ///   stream socket.
  package init(sorting passed: [(name: String, descriptor: Int32)]) throws(Failure) {
    for (name, descriptor) in passed {
      if Self.isListeningStreamSocket(descriptor) {
        sockets[name, default: []].append(descriptor)
      } else {
        throw .unusable(name: name, descriptor: descriptor)
      }
    }
  }

  private init() {}

  /// Returns the only socket with this name, if any.
  ///
  /// - Throws: ``Failure/ambiguous(name:count:)`` if there are several.
  package func socket(named name: String) throws(Failure) -> Int32? {
    guard let found = sockets[name] else { return nil }
    guard found.count == 1 else { throw .ambiguous(name: name, count: found.count) }
    return found[0]
  }

  private static func isListeningStreamSocket(_ descriptor: Int32) -> Bool {
    let stream = Int32(SOCK_STREAM.rawValue)
    return [AF_UNIX, AF_INET, AF_INET6].contains {
      sd_is_socket(descriptor, $0, stream, 1) > 0
    }
  }
}
