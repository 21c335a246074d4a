import ControlInterface
import JSON
import LiveEvents
import Locking
import SystemSupport
import TerminalScreen
import Varlink

/// Keeps the screen of `watch` up to date and performs the calls that the user requests.
final class WatchSource: Sendable {
  typealias Inbox = ScreenInbox<HostScreenModel.Update, HostScreenModel.Request>

  /// The numbers of the update sources other than the room.
  private enum Source {
    static let connection = -1
    static let rooms = -2
    static let ended = -3
    static let outcomes = -4
  }

  let context: Context
  /// The room that the user named; `watch` ends when this room closes. `nil` if the user chooses
  /// rooms from a list.
  let room: String?
  let rate: Double
  let inbox: Inbox
  private let isShowingRoom = Guarded(false)

  init(_ context: Context, room: String?, rate: Double, _ inbox: Inbox) {
    self.context = context
    self.room = room
    self.rate = rate
    self.inbox = inbox
  }

  func run(_ client: ControlClient) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { [self] in try await list(client) }
      group.addTask { [self] in await serve() }
      _ = try await group.next()
      group.cancelAll()
    }
  }

  private func list(_ client: ControlClient) async throws {
    let environment = context.environment
    try await context.following(
      client,
      onConnection: { [self] isConnected in
        // While a room is shown, a lost connection is not reported here, because the room's monitor
        // notices the loss sooner.
        guard !isShowingRoom.withLock({ $0 }) else { return }
        inbox.post(.connection(isConnected), from: Source.connection)
      }
    ) { client, answered in
      while true {
        let rooms = try await client.listRooms().rooms
        answered()
        inbox.post(.rooms(rooms, at: environment.now()), from: Source.rooms)
        try await environment.sleep(.seconds(1))
      }
    }
  }

  private func serve() async {
    var monitor = room.map(show)
    var last: [String: Task<Void, Never>] = [:]
    for await request in inbox.requests {
      switch request {
      case .show(let room):
        monitor?.cancel()
        monitor = show(room)
      case .call(let call):
        // Calls of the same method run one after another, because otherwise an earlier level could
        // overwrite a later one.
        let before = last[call.method]
        last[call.method] = Task {
          await before?.value
          await perform(call)
        }
      }
    }
    monitor?.cancel()
  }

  private func perform(_ call: HostScreenModel.Call) async {
    var failure: String?
    let parameters = call.parameters.merging(author(of: call)) { $1 }
    do {
      let reply = try await context.withDaemon {
        try await $0.client.callRaw("\(ControlInterface.name).\(call.method)", parameters)
      }
      if reply["outcome"] == "refused" { failure = reply["reason"]?.stringValue ?? "refused" }
    } catch {
      failure = (error as? Failure)?.message ?? "\(error)"
    }
    inbox.post(
      .outcome(.init(call: call, failure: failure)), from: Source.outcomes - call.number)
  }

  /// Returns the parameter that names the user as the author of an act on a platform.
  private func author(of call: HostScreenModel.Call) -> [JSONName: JSONValue] {
    guard call.method == "Act", let name = context.environment.variables["USER"],
      (1...EventLimits.nameLength).contains(name.utf8.count)
    else { return [:] }
    return ["by": .string(name)]
  }

  private func show(_ name: String) -> Task<Void, Never> {
    isShowingRoom.withLock { $0 = true }
    return Task {
      do {
        try await monitor(name)
      } catch is CancellationError {
      } catch let end as WatchEnd where room == nil {
        isShowingRoom.withLock { $0 = false }
        inbox.post(.ended(room: name, reason: end.message), from: Source.ended)
      } catch {
        if !Task.isCancelled { inbox.end(.failure(error)) }
      }
    }
  }

  private func monitor(_ name: String) async throws {
    try await context.following(
      try await context.connect(),
      onConnection: { [inbox] in inbox.post(.connection($0), from: Source.connection) }
    ) { client, answered in
      var hasAnswered = false
      do {
        for try await element in try client.monitorScreen(name, maximumRate: rate) {
          answered()
          hasAnswered = true
          inbox.post(.screen(room: name, try element.report(), at: context.environment.now()))
        }
      } catch VarlinkClientError.remote(let error) where hasAnswered || room == nil {
        throw WatchEnd.cause(of: error)
      }
    }
  }
}

enum WatchEnd: Error {
  case roomClosed(String)
  case daemonStopped

  /// Returns ``roomClosed(_:)`` if the error means that the room is closed; otherwise returns the
  /// error itself.
  static func cause(of error: VarlinkError) -> any Error {
    guard case .noSuchRoom(let name)? = ControlError(error) else {
      return VarlinkClientError.remote(error)
    }
    return Self.roomClosed(name)
  }

  var message: String {
    switch self {
    case .roomClosed(let name): "the room '\(name)' was closed"
    case .daemonStopped: "the daemon stopped"
    }
  }

  func report(on console: Console) throws(Failure) {
    switch self {
    case .roomClosed: console.warn(message)
    case .daemonStopped: throw Failure(.failed, message)
    }
  }
}
