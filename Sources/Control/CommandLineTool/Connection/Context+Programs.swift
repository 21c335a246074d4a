import Glibc

extension Context {
  /// Returns the socket paths of the first daemon whose socket of the given kind exists.
  func sockets(_ socket: KeyPath<SocketPaths, String>) throws(Failure) -> SocketPaths {
    let found = socketPaths.first { FileKind(path: $0[keyPath: socket]) == .socket }
    guard let found else { throw .notRunning(socketPaths.map { $0[keyPath: socket] }) }
    return found
  }

  /// Replaces this process with a program from a Debian package. Returns only if the program could
  /// not be started, with the reason.
  func replaceProcess(with name: String, of package: String, _ arguments: [String]) -> Failure {
    do {
      let program = try path(of: name, package)
      let code = withCStrings([program] + arguments) { pointers in
        execv(program, pointers)
        return errno
      }
      return cannotStart(program, code)
    } catch {
      return error
    }
  }

  /// Runs a program from a Debian package until it ends. Cancelling the task terminates the
  /// program.
  func run(_ name: String, of package: String, _ arguments: [String]) async throws {
    let program = try path(of: name, package)
    var child: pid_t = 0
    let code = withCStrings([program] + arguments) { pointers in
      posix_spawn(&child, program, nil, nil, pointers, environ)
    }
    guard code == 0 else { throw cannotStart(program, code) }
    let process = child
    let status = await withTaskCancellationHandler {
      await onThread {
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        return status
      }
    } onCancel: {
      kill(process, SIGTERM)
    }
    if status != 0, !Task.isCancelled { throw Failure(.failed, "\(name) failed") }
  }

  private func path(of name: String, _ package: String) throws(Failure) -> String {
    let program = environment.programDirectory.map { "\($0)/\(name)" } ?? name
    guard FileKind(path: program) == .regular else {
      throw Failure(.failed, "\(program) does not exist; install the package \(package)")
    }
    return program
  }

  private func cannotStart(_ program: String, _ code: Int32) -> Failure {
    Failure(.failed, "cannot start \(program): \(String(cString: strerror(code)))")
  }
}
