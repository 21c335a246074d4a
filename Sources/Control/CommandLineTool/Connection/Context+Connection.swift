import ControlInterface
import Glibc
import LiveEvents
import TerminalScreen
import Varlink
import Wording

extension Context {
  var socketPaths: [SocketPaths] { SocketPaths.candidates(option: socketOption, environment) }

  func withDaemon<Result>(
    _ body: (ControlClient) async throws -> Result
  ) async throws -> Result {
    let client = try await connect()
    do {
      let result = try await body(client)
      await client.client.close()
      return result
    } catch let error as VarlinkClientError {
      throw await Self.failure(error, client)
    }
  }

  /// Returns the failure that describes an error of a call. If the room is unknown, the failure's
  /// message suggests the room with the most similar name.
  private static func failure(
    _ error: VarlinkClientError, _ client: ControlClient
  ) async -> Failure {
    var failure = Failure(error)
    guard case .remote(let remote) = error,
      case .noSuchRoom(let name)? = ControlError(remote),
      let rooms = try? await client.listRooms().rooms.map(\.room),
      let near = Spelling.nearest(to: name, among: rooms)
    else { return failure }
    failure.message += "; did you mean '\(near)'?"
    return failure
  }

  /// Runs `body` with a connection until the task is cancelled. `body` calls its second parameter
  /// when the daemon has answered. If the connection is lost after the first answer, waits for the
  /// daemon and calls `body` again with a new connection.
  ///
  /// - Parameter onConnection: called with `false` when the connection is lost, and with `true`
  ///   once the daemon has answered on a new connection.
  func following(
    _ first: ControlClient, onConnection: @escaping @Sendable (Bool) -> Void,
    _ body: (ControlClient, _ answered: () -> Void) async throws -> Void
  ) async throws {
    var connected: ControlClient? = first
    var retry = RetryDelay()
    var (hasAnswered, isLost) = (false, false)
    while true {
      do {
        let client = if let connected { connected } else { try await connect() }
        connected = client
        try await body(client) {
          hasAnswered = true
          retry.reset()
          if isLost { onConnection(true) }
          isLost = false
        }
        return
      } catch VarlinkClientError.connectionClosed where hasAnswered {
      } catch let failure as Failure where hasAnswered && failure.status == .notReachable {}
      await connected?.client.close()
      connected = nil
      if !isLost { onConnection(false) }
      isLost = true
      try await environment.sleep(retry.next())
    }
  }

  func connect() async throws(Failure) -> ControlClient {
    for sockets in socketPaths {
      do {
        return try await ControlClient.connect(path: sockets.control)
      } catch .notReachable(_, let code) where Self.meansNotRunning(code) {
        continue
      } catch {
        throw Failure(error)
      }
    }
    throw .notRunning(socketPaths.map(\.control))
  }

  /// Returns whether the `errno` of a failed connection means that no daemon is listening.
  static func meansNotRunning(_ code: Int32) -> Bool {
    code == ENOENT || code == ECONNREFUSED || code == ENOTDIR
  }
}

extension Failure {
  static func notRunning(_ paths: [String]) -> Failure {
    Failure(
      .notReachable,
      """
      the daemon is not running; start it with 'systemctl start livehostd' or, by hand, 'livehostd'
      (tried \(paths.joined(separator: " and ")))
      """)
  }

  static func notConnected(path: String, code: Int32) -> Failure {
    if code == EACCES || code == EPERM {
      return Failure(
        .notPermitted,
        "permission to connect to \(path) was denied; only members of the group 'livehost' "
          + "have it")
    }
    return Failure(.notReachable, "cannot connect to \(path): \(String(cString: strerror(code)))")
  }

  init(_ error: VarlinkClientError) {
    switch error {
    case .notReachable(let path, let code): self = .notConnected(path: path, code: code)
    case .connectionClosed:
      self.init(
        .failed,
        "the daemon closed the connection without answering: it is stopping, or has as many "
          + "clients as the configuration key 'control.connections' allows")
    case .protocolViolation(let text), .unexpectedReply(let text):
      self.init(
        .failed, "the daemon's answer is invalid (does the daemon have another version?): \(text)")
    case .invalidParameters(let text): self.init(.failed, "cannot send the request: \(text)")
    case .cancelled: self = .interrupted
    case .remote(let error): self.init(error)
    }
  }

  private init(_ error: VarlinkError) {
    if let known = ControlError(error) {
      self.init(known)
    } else if let known = ServiceError(error) {
      self.init(known)
    } else {
      self.init(.failed, "the daemon answered \(error.name)")
    }
  }

  init(_ error: ControlError) {
    switch error {
    case .noSuchRoom(let room):
      self.init(.failed, "there is no room '\(room)'; 'livehostctl rooms' lists them")
    case .roomExists(let room): self.init(.failed, "the room '\(room)' is already open")
    case .noSuchView(let room, let view):
      self.init(
        .failed,
        "the room '\(room)' has no view '\(view)'; 'livehostctl show \(room)' lists its views")
    case .invalidScenario(let file, let line, let key, let message):
      let location = line.map { "\(file):\($0)" } ?? file
      let text = key.map { "\(location): \($0): \(message)" } ?? "\(location): \(message)"
      self.init(scenario: text, file, line, key)
    case .noSuchRecording(let name): self.init(.failed, "there is no recording '\(name)'")
    case .recordingInUse(let name):
      self.init(
        .failed,
        "the recording '\(name)' is in use: its room writes to it, one of 'livehostctl tasks' "
          + "reads it, or no snapshot of its room has been saved since")
    case .noSuchTask(let name): self.init(.failed, "there is no task '\(name)'")
    case .noSuchRequest(let identifier):
      self.init(.failed, "there is no pending request '\(identifier)'")
    case .taskCancelled(let name): self.init(.failed, "the task '\(name)' was cancelled")
    case .alreadyRecording(let room):
      self.init(.failed, "the room '\(room)' is already being recorded")
    case .noSurface(let room, let control):
      self.init(
        .failed,
        "no controller accepts requests for '\(control)' in the room '\(room)'; connect a source "
          + "that does")
    case .noController(let room, let act, let platform):
      let place = platform.map { " on \(TerminalText.sanitized($0))" } ?? ""
      self.init(
        .failed,
        "no connected source can carry out '\(TerminalText.sanitized(act))'\(place) in the room "
          + "'\(room)'; 'livehostctl connect' starts one, and 'livehostctl sources' lists them")
    case .severalControllers(let room, let act, let choices):
      self.init(
        .failed,
        "several connected sources can carry out '\(TerminalText.sanitized(act))' in the room "
          + "'\(room)': \(TerminalText.sanitized(choices)); choose one with --platform or --source")
    case .notRecording(let room): self.init(.failed, "the room '\(room)' is not being recorded")
    case .recordingFailed(let room, let reason):
      let subject = room.isEmpty ? "recordings" : "room '\(room)'"
      self.init(.failed, "\(subject): \(reason)")
    case .invalidEvent(_, let reason, let fault):
      // A newer daemon may report reasons that this version does not know.
      let explanation = RejectionReason(rawValue: reason)?.explanation(fault) ?? reason
      self.init(.badData, "the event was rejected: \(explanation)")
    case .limitReached(let limit):
      self.init(.failed, "the daemon has reached its limit (\(limit))")
    case .busy: self.init(.failed, "the daemon is busy; try again")
    case .nobodyWaits(let room, nil):
      self.init(.failed, "nobody is waiting in the room '\(room)'")
    case .nobodyWaits(let room, let user?):
      self.init(
        .failed,
        "'\(user)' is not waiting in the room '\(room)'; 'livehostctl show \(room) waitingRoom' "
          + "lists the people waiting")
    case .roomFull(let room, let capacity):
      self.init(
        .failed,
        "the room '\(room)' is full: its capacity is \(capacity); "
          + "'livehostctl capacity \(room) COUNT' changes it")
    case .noSuchMessage(let room, let message):
      self.init(.failed, "the chat of the room '\(room)' has no message '\(message)'")
    case .noSuchNotice(let room, let notice):
      self.init(
        .failed,
        "the room '\(room)' has no notice \(notice); 'livehostctl chat notices \(room)' lists them"
      )
    case .noSuchActivity(let room, let activity):
      self.init(
        .failed,
        "the room '\(room)' has no activity \(activity); 'livehostctl activity list \(room)' lists "
          + "them")
    }
  }

  private init(_ error: ServiceError) {
    switch error {
    case .permissionDenied:
      self.init(
        .notPermitted,
        "permission denied; only root, the daemon's user and members of the group 'livehost' "
          + "have it")
    case .invalidParameter(let name):
      self.init(.usage, "the daemon rejected the value of '\(name)'")
    case .interfaceNotFound, .methodNotFound, .methodNotImplemented:
      self.init(.failed, "the daemon's version does not support this call")
    case .expectedMore, .expectedUpgrade:
      self.init(.failed, "the daemon's version expects another kind of call")
    }
  }
}
