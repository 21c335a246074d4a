import Glibc

extension Context {
  /// The sockets of the first daemon that has the given one.
  func sockets(_ socket: KeyPath<SocketPaths, String>) throws(Failure) -> SocketPaths {
    let found = socketPaths.first { FileKind(path: $0[keyPath: socket]) == .socket }
    guard let found else { throw .notRunning(socketPaths.map { $0[keyPath: socket] }) }
    return found
  }

  /// Replaces this process by another program of this project, whose exit code becomes that of the verb.
  ///
  /// - Parameter package: what has to be installed for it.
  /// - Returns: why that is impossible.
  func become(_ name: String, of package: String, _ arguments: [String]) -> Failure {
    let program = environment.programDirectory.map { "\($0)/\(name)" } ?? name
    guard FileKind(path: program) == .regular else {
      return Failure(.failed, "there is no \(program); install the package \(package)")
    }
    let pointers = ([program] + arguments).map { strdup($0) } + [nil]
    execv(program, pointers)
    return Failure(.failed, "cannot start \(program): \(String(cString: strerror(errno)))")
  }
}
