import Dispatch
import Glibc
import Locking
import SystemSupport

/// A terminal for drawing screens, with its keyboard.
package struct Terminal: Sendable {
  /// A key, a change of the window's size, or the end of a suspension.
  package enum Input: Sendable, Equatable {
    case typed([UInt8])
    case resized
    /// The program continues after it was stopped. The terminal may show something else by now.
    case resumed
  }

  /// Takes over the whole terminal: an empty screen without a cursor, and unbuffered keys. Returns
  /// a stream of the keys and events that follow.
  package var begin: @Sendable () -> AsyncStream<Input>
  package var write: @Sendable ([UInt8]) throws -> Void
  /// Restores the terminal's previous state.
  package var end: @Sendable () -> Void

  package init(
    begin: @escaping @Sendable () -> AsyncStream<Input>,
    write: @escaping @Sendable ([UInt8]) throws -> Void, end: @escaping @Sendable () -> Void
  ) {
    self.begin = begin
    self.write = write
    self.end = end
  }

  /// Switches to the alternate screen and hides the cursor. Also reports clicks and the wheel
  /// (1000), in the form without a limit on coordinates (1006), saves the window's title (22), and
  /// sets a new one.
  static let enter =
    "\u{1B}[?1049h\u{1B}[?25l\u{1B}[?1000h\u{1B}[?1006h\u{1B}[22;0t\u{1B}]0;livehost\u{07}"
  /// Leaves the alternate screen. Also resets the style, the scrolling region and the cursor.
  /// Clears the screen first, because otherwise tmux keeps some of its lines above the shell's
  /// lines if the window has grown.
  static let leave =
    "\u{1B}[?1006l\u{1B}[?1000l\u{1B}[0m\u{1B}[r\u{1B}[2J\u{1B}[?25h\u{1B}[?1049l\u{1B}[23;0t"

  package static func process(write: @escaping @Sendable ([UInt8]) throws -> Void) -> Terminal {
    let session = TerminalSession(write: write)
    return Terminal(begin: session.begin, write: session.draw, end: session.end)
  }

  /// Restores this process's terminal immediately, even during a write. Called when the process is
  /// about to end.
  package static func restoreNow() { TerminalSession.current.withLock { $0 }?.restoreNow() }
}

/// The settings of the process's terminal while a screen is drawn.
private final class TerminalSession: Sendable {
  static let current = Guarded<TerminalSession?>(nil)

  private struct State {
    /// The settings to restore; nil before the session begins, or if standard input is not a
    /// terminal.
    var settings: termios?
    var isOpen = false
    var sources: [any DispatchSourceProtocol] = []
    var keyboard: (any DispatchSourceProtocol)?
    var inputs: AsyncStream<Terminal.Input>.Continuation?
  }

  private let state = Guarded(State())
  private let write: @Sendable ([UInt8]) throws -> Void
  private let queue = DispatchQueue(label: "terminal")

  init(write: @escaping @Sendable ([UInt8]) throws -> Void) { self.write = write }

  func begin() -> AsyncStream<Terminal.Input> {
    let (stream, continuation) = AsyncStream.makeStream(of: Terminal.Input.self)
    Self.current.withLock { $0 = self }
    state.withLock { state in
      state.inputs = continuation
      open(&state)
      state.sources = [
        onSignal(SIGWINCH) { [weak self] in self?.post(.resized) },
        onSignal(SIGTSTP) { [weak self] in self?.suspend() },
      ]
      if state.settings != nil { state.keyboard = keyboard() }
    }
    return stream
  }

  func draw(_ bytes: [UInt8]) throws {
    // The lock and the check of `isOpen` prevent this program from drawing on the shell's screen
    // while it is stopped.
    try state.withLock { state in if state.isOpen { try write(bytes) } }
  }

  func end() {
    state.withLock { state in
      for source in state.sources { source.cancel() }
      state.sources = []
      state.keyboard?.cancel()
      state.keyboard = nil
      state.inputs?.finish()
      close(&state)
    }
    signal(SIGTSTP, SIG_DFL)
    Self.current.withLock { $0 = nil }
  }

  func restoreNow() {
    // Pending output is dropped, because a stuck terminal must not delay the end of the process.
    tcflush(STDOUT_FILENO, TCOFLUSH)
    _ = Terminal.leave.withCString { Glibc.write(STDOUT_FILENO, $0, strlen($0)) }
    if var settings = state.withLockIfAvailable({ $0.settings }) ?? nil {
      tcsetattr(STDIN_FILENO, TCSANOW, &settings)
    }
  }

  private func open(_ state: inout State) {
    guard !state.isOpen else { return }
    state.isOpen = true
    var settings = termios()
    if isatty(STDIN_FILENO) == 1, tcgetattr(STDIN_FILENO, &settings) == 0 {
      state.settings = settings
      // Keys arrive one by one, without echo; keys such as Ctrl-C still send signals.
      settings.c_lflag &= ~tcflag_t(ICANON | ECHO)
      tcsetattr(STDIN_FILENO, TCSANOW, &settings)
    }
    try? write(Array(Terminal.enter.utf8))
  }

  private func close(_ state: inout State) {
    guard state.isOpen else { return }
    state.isOpen = false
    try? write(Array(Terminal.leave.utf8))
    if var settings = state.settings { tcsetattr(STDIN_FILENO, TCSADRAIN, &settings) }
    state.settings = nil
  }

  private func post(_ input: Terminal.Input) {
    _ = state.withLock { $0.inputs }?.yield(input)
  }

  /// Handles Ctrl-Z: restores the shell's screen, stops the program, and redraws this screen when
  /// the program continues.
  private func suspend() {
    state.withLock { state in
      guard state.isOpen else { return }
      close(&state)
      kill(getpid(), SIGSTOP)
      open(&state)
    }
    post(.resumed)
  }

  /// Handles a hangup. The dispatch source is cancelled, because its handler would otherwise be
  /// called again and again.
  private func keyboardEnded() {
    state.withLock { $0.keyboard }?.cancel()
  }

  private func onSignal(
    _ number: Int32, _ body: @escaping @Sendable () -> Void
  ) -> any DispatchSourceProtocol {
    // SIGWINCH is ignored by default, but SIGTSTP would stop the process before its handler runs.
    if number == SIGTSTP { signal(number, SIG_IGN) }
    let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
    source.setEventHandler(handler: body)
    source.activate()
    return source
  }

  private func keyboard() -> any DispatchSourceProtocol {
    let source = DispatchSource.makeReadSource(fileDescriptor: STDIN_FILENO, queue: queue)
    source.setEventHandler { [weak self] in
      guard let bytes = Keyboard.read(STDIN_FILENO) else { return self?.keyboardEnded() ?? () }
      if !bytes.isEmpty { self?.post(.typed(bytes)) }
    }
    source.activate()
    return source
  }
}
