import ControlFeature
import ControlInterface
import LiveEvents
import Locking
import SystemSupport

/// The requests of one room, from the effects that ask for them to the clients that carry them out.
///
/// Everything that the room's state depends on is in its ``Requests``; here is what ends with the
/// process: who waits for which outcome, and what is yet to be sent to whom. May be used from any
/// thread.
final class RequestFeed: Sendable {
  enum Message: Equatable, Sendable {
    case request(ControlRequest)
    /// The request of this number is void.
    case withdrawn(Int)
  }

  private struct Open {
    let request: ControlRequest
    let continuation: CheckedContinuation<RequestOutcome, any Error>
    /// The surfaces that have it or are about to get it.
    var surfaces: Set<Int> = []
  }

  private struct Contents {
    /// In the order in which they came.
    var surfaces: [Requests.Surface] = []
    /// What each surface has not been sent yet. At most what is open and the withdrawals of what
    /// was sent: a withdrawal takes the place of a request that was not.
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

    /// Takes out a request. Nobody gets it any more.
    ///
    /// - Parameter announcing: whether those that have it are told that it is void.
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

  /// How long an outcome is waited for.
  var patience: Duration {
    get { contents.withLock { $0.patience } }
    set { contents.withLock { $0.patience = newValue } }
  }

  /// What the effects of the room work with.
  var client: Controller {
    Controller(patience: { [self] in patience }) { [self] in try await carryOut($0) }
  }

  // MARK: Effects

  /// Gives a request to the surface that takes it, or to the first that comes, and waits for the
  /// outcome.
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
      // Cancellation before this point finds nothing to withdraw, so it is looked for under the
      // lock.
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

  /// The surfaces that are there, in the order in which they came.
  var surfaces: [Requests.Surface] { contents.withLock { $0.surfaces } }

  /// Adds a surface, which also gets what has no outcome yet. Returns it with its number.
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

  /// Takes what a surface is to be sent; waits until there is something.
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

  // Never inlined, as in `RoomFeed`: the lock must be returned by the thread that took it.
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

  /// Reports the outcome of a request. Returns `false` if the request is void or has an outcome.
  func report(_ number: Int, _ outcome: RequestOutcome) -> Bool {
    let entry = contents.withLock { $0.close(number, announcing: false) }
    entry?.continuation.resume(returning: outcome)
    return entry != nil
  }

  /// Ends the calls of all surfaces: the room is gone.
  func finish(_ error: ControlError) {
    contents.withLock { if $0.end == nil { $0.end = error } }
    change.raise()
  }
}
