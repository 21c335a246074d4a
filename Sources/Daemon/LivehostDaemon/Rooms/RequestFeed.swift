import ControlFeature
import ControlInterface
import LiveEvents
import Locking
import SystemSupport

/// The requests of one room, on their way from effects to the controllers that carry them out.
///
/// The room's ``Requests`` hold everything on which the room's state depends. ``RequestFeed`` holds
/// what ends with the process: the callers waiting for outcomes, and the messages not yet sent to
/// controllers. May be used from any thread.
final class RequestFeed: Sendable {
  enum Message: Equatable, Sendable {
    case request(ControlRequest)
    /// The request with this number is void.
    case withdrawn(Int)
  }

  private struct Open {
    let request: ControlRequest
    let continuation: CheckedContinuation<RequestOutcome, any Error>
    /// The controllers that have received the request or are about to.
    var surfaces: Set<Int> = []
  }

  private struct Contents {
    /// The connected controllers, in the order in which they connected.
    var surfaces: [Requests.Surface] = []
    /// The messages not yet sent to each controller: at most one for each open request, and
    /// withdrawals of requests that were sent. Withdrawing an unsent request removes it from the
    /// queue.
    var queues: [Int: [Message]] = [:]
    var open: [Int: Open] = [:]
    var patience = Duration.seconds(5)
    var last = 0
    var end: ControlError?

    mutating func offer(_ number: Int, to surface: Int) {
      guard open[number]?.surfaces.insert(surface).inserted == true,
        let request = open[number]?.request
      else { return }
      queues[surface]?.append(.request(request))
    }

    /// Removes a request, so that no further controller receives it. `announcing` also informs the
    /// controllers that have received the request.
    mutating func close(_ number: Int, announcing: Bool) -> Open? {
      guard let entry = open.removeValue(forKey: number) else { return nil }
      for surface in entry.surfaces {
        let waiting = queues[surface]?.firstIndex(of: .request(entry.request))
        if let waiting {
          queues[surface]?.remove(at: waiting)
        } else if announcing {
          queues[surface]?.append(.withdrawn(number))
        }
      }
      return entry
    }
  }

  private let contents = Guarded(Contents())
  private let change = ChangeSignal()

  /// How long a request waits for its outcome.
  var patience: Duration {
    get { contents.withLock { $0.patience } }
    set { contents.withLock { $0.patience = newValue } }
  }

  /// The client that the room's effects use.
  var client: Controller {
    Controller(patience: { [self] in patience }) { [self] in try await carryOut($0) }
  }

  // MARK: Effects

  /// Sends a request to the controller for its control, or to the first one that connects, and
  /// waits for the outcome.
  /// - Throws: `CancellationError`, which voids the request.
  private func carryOut(_ request: ControlRequest) async throws -> RequestOutcome {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        open(request, continuation)
      }
    } onCancel: {
      withdraw(request.number)
    }
  }

  @inline(never)
  private func open(
    _ request: ControlRequest, _ continuation: CheckedContinuation<RequestOutcome, any Error>
  ) {
    let isOpen = contents.withLock { contents in
      // If the task was cancelled before the lock was taken, its cancellation handler found no
      // request to withdraw.
      guard !Task.isCancelled else { return false }
      contents.open[request.number] = Open(request: request, continuation: continuation)
      if let surface = contents.surfaces.last(where: { $0.takes(request.control) }) {
        contents.offer(request.number, to: surface.number)
      }
      return true
    }
    if isOpen { change.raise() } else { continuation.resume(throwing: CancellationError()) }
  }

  private func withdraw(_ number: Int) {
    let entry = contents.withLock { $0.close(number, announcing: true) }
    entry?.continuation.resume(throwing: CancellationError())
    change.raise()
  }

  // MARK: Surfaces

  var surfaces: [Requests.Surface] { contents.withLock { $0.surfaces } }

  /// Adds a controller, which also receives the open requests. Returns it with its number.
  func add(controls: [String]?) -> Requests.Surface {
    let surface = contents.withLock { contents in
      contents.last += 1
      let surface = Requests.Surface(number: contents.last, controls: controls)
      contents.surfaces.append(surface)
      contents.queues[surface.number] = []
      for (number, entry) in contents.open.sorted(by: { $0.key < $1.key })
      where surface.takes(entry.request.control) {
        contents.offer(number, to: surface.number)
      }
      return surface
    }
    change.raise()
    return surface
  }

  func remove(_ surface: Int) {
    contents.withLock { contents in
      contents.surfaces.removeAll { $0.number == surface }
      contents.queues[surface] = nil
      for number in contents.open.keys { contents.open[number]?.surfaces.remove(surface) }
    }
  }

  /// Waits until there are messages for a controller, removes them and returns them.
  /// - Throws: the error with which the room ended, and `CancellationError`.
  func next(for surface: Int) async throws -> [Message] {
    while true {
      try Task.checkCancellation()
      let messages = try take(surface)
      if !messages.isEmpty { return messages }
      await change.wait { [self] in
        contents.withLock { $0.queues[surface]?.isEmpty == true && $0.end == nil }
      }
    }
  }

  // Never inlined, for the same reason as functions of `RoomFeed`: the thread that locks must also
  // unlock.
  @inline(never)
  private func take(_ surface: Int) throws(ControlError) -> [Message] {
    let result: Result<[Message], ControlError> = contents.withLock { contents in
      if let end = contents.end { return .failure(end) }
      let messages = contents.queues[surface] ?? []
      contents.queues[surface] = []
      return .success(messages)
    }
    return try result.get()
  }

  /// Reports the outcome of a request. Returns `false` if the request is void or already has an
  /// outcome.
  func report(_ number: Int, _ outcome: RequestOutcome) -> Bool {
    let entry = contents.withLock { $0.close(number, announcing: false) }
    entry?.continuation.resume(returning: outcome)
    return entry != nil
  }

  /// Ends the calls of all controllers when the room closes.
  func finish(_ error: ControlError) {
    contents.withLock { if $0.end == nil { $0.end = error } }
    change.raise()
  }
}
