import Glibc
import TerminalScreen

extension Console {
  /// Returns the console of this process.
  ///
  /// Ignores `SIGPIPE`, so that writing to a closed pipe returns an error instead of ending the
  /// process.
  static func standard(_ environment: ProcessEnvironment) -> Console {
    signal(SIGPIPE, SIG_IGN)
    let write: @Sendable ([UInt8]) throws -> Void = { bytes in
      guard let code = writeAll(bytes, to: STDOUT_FILENO) else { return }
      // A reader that closes the pipe early is not an error; a full disk is.
      if code == EPIPE { throw OutputClosed() }
      throw Failure(.failed, "cannot write the output: \(String(cString: strerror(code)))")
    }
    let isTerminal = isatty(STDOUT_FILENO) == 1
    let isInteractive = isTerminal && environment.variable("TERM").map { $0 != "dumb" } ?? false
    var page: (@Sendable ([UInt8]) -> Bool)?
    if isInteractive, let pager = Pager(environment) { page = { pager.show($0) } }
    return Console(
      write: write,
      diagnose: { text in _ = writeAll(Array(text.utf8), to: STDERR_FILENO) },
      isOutputTerminal: isTerminal,
      isDiagnosticsTerminal: isatty(STDERR_FILENO) == 1,
      palette: isInteractive ? environment.palette : .none,
      usesUnicode: environment.usesUTF8,
      terminal: isInteractive ? .process(write: write) : nil,
      page: page,
      readInput: { try await StandardInput.read(limit: $0) },
      size: terminalSize)
  }

  /// Writes all bytes; returns the `errno` of a failure.
  private static func writeAll(_ bytes: [UInt8], to descriptor: Int32) -> Int32? {
    bytes.withUnsafeBytes { buffer in
      var rest = buffer
      while let start = rest.baseAddress, !rest.isEmpty {
        let count = Glibc.write(descriptor, start, rest.count)
        if count >= 0 {
          rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        } else if errno == EAGAIN {
          // Waits until the descriptor is writable, because another program that shares the
          // terminal may have made it non-blocking.
          var waited = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
          _ = poll(&waited, 1, -1)
        } else if errno != EINTR {
          return errno
        }
      }
      return nil
    }
  }

  private static func terminalSize() -> (columns: Int, rows: Int) {
    var size = winsize()
    for descriptor in [STDOUT_FILENO, STDERR_FILENO]
    where ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 && size.ws_row > 0 {
      return (Int(size.ws_col), Int(size.ws_row))
    }
    return (80, 24)
  }
}
