package import ControlFeature
import ControlInterface
import LiveEvents
import Locking
import SystemSupport

/// The requests of one room, on their way from effects to the controllers that carry them out.
///
/// The room's ``Requests`` hold everything on which the room's state depends. ``RequestFeed`` holds
/// what ends with the process: the callers waiting for outcomes, and the messages not yet sent to
/// controllers. May be used from any thread.
package final class RequestFeed: Sendable {
  package enum Message: Equatable, Sendable {
    /// `run` is part of the identifier of an act.
    case request(ControlRequest, run: String?)
    /// The request with this number is void.
    case withdrawn(Int, run: String?)
  }

  private struct OpenRequest {
    let request: ControlRequest
    /// The run of the feed if the request is an act; the identifier of an act contains it.
    let run: String?
    let continuation: CheckedContinuation<RequestOutcome, any Error>
    /// The controllers that have received the request or are about to.
    var controllers: Set<Int> = []

    var message: Message { .request(request, run: run) }
  }

  private struct Contents {
    /// The connected controllers, in the order in which they connected.
    var controllers: [Requests.ConnectedController] = []
    /// The messages not yet sent to each controller: at most one for each open request, and
    /// withdrawals of requests that were sent. Withdrawing an unsent request removes it from the
    /// queue.
    var queues: [Int: [Message]] = [:]
    var open: [Int: OpenRequest] = [:]
    var patience = Duration.seconds(5)
    var last = 0
    var end: ControlError?

    mutating func offer(_ number: Int, to controller: Int) {
      guard queues[controller] != nil,
        open[number]?.controllers.insert(controller).inserted == true,
        let entry = open[number]
      else { return }
      queues[controller]?.append(entry.message)
    }

    /// Removes a request, so that no further controller receives it. `announcing` also informs the
    /// controllers that have received the request.
    mutating func close(_ number: Int, announcing: Bool) -> OpenRequest? {
      guard let entry = open.removeValue(forKey: number) else { return nil }
      for controller in entry.controllers {
        let waiting = queues[controller]?.firstIndex(of: entry.message)
        if let waiting {
          queues[controller]?.remove(at: waiting)
        } else if announcing {
          queues[controller]?.append(.withdrawn(number, run: entry.run))
        }
      }
      return entry
    }
  }

  private let contents = Guarded(Contents())
  private let change = ChangeSignal()
  /// A random name of this feed, and so of this run of the daemon.
  private let run = String(UInt64.random(in: .min ... .max), radix: 36)

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
  /// waits for the outcome. An act is sent only to the controller that the state has chosen.
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
      contents.open[request.number] = OpenRequest(
        request: request, run: request.control == nil ? run : nil, continuation: continuation)
      let controller =
        if let control = request.control {
          contents.controllers.last { $0.accepts(control) }?.number
        } else {
          // The state has chosen the controller of an act. If this controller has left, the act is
          // not sent.
          request.controller
        }
      if let controller { contents.offer(request.number, to: controller) }
      return true
    }
    if isOpen { change.raise() } else { continuation.resume(throwing: CancellationError()) }
  }

  private func withdraw(_ number: Int) {
    let entry = contents.withLock { $0.close(number, announcing: true) }
    entry?.continuation.resume(throwing: CancellationError())
    change.raise()
  }

  // MARK: Controllers

  var controllers: [Requests.ConnectedController] { contents.withLock { $0.controllers } }

  /// Adds a controller, which also receives the open requests for its controls. Returns it with its
  /// number.
  func add(controls: [String]?, acts: OfferedActs?) -> Requests.ConnectedController {
    let controller = contents.withLock { contents in
      contents.last += 1
      let controller = Requests.ConnectedController(
        number: contents.last, controls: controls, acts: acts)
      contents.controllers.append(controller)
      contents.queues[controller.number] = []
      for (number, entry) in contents.open.sorted(by: { $0.key < $1.key })
      where entry.request.control.map(controller.accepts) == true {
        contents.offer(number, to: controller.number)
      }
      return controller
    }
    change.raise()
    return controller
  }

  func remove(_ controller: Int) {
    contents.withLock { contents in
      contents.controllers.removeAll { $0.number == controller }
      contents.queues[controller] = nil
      for number in contents.open.keys { contents.open[number]?.controllers.remove(controller) }
    }
  }

  /// Waits until there are messages for a controller, removes them and returns them.
  /// - Throws: the error with which the room ended, and `CancellationError`.
  package func next(for controller: Int) async throws -> [Message] {
    while true {
      try Task.checkCancellation()
      let messages = try removeMessages(for: controller)
      if !messages.isEmpty { return messages }
      await change.wait { [self] in
        contents.withLock { $0.queues[controller]?.isEmpty == true && $0.end == nil }
      }
    }
  }

  // Never inlined, for the same reason as functions of `RoomFeed`: the thread that locks must also
  // unlock.
  @inline(never)
  private func removeMessages(for controller: Int) throws(ControlError) -> [Message] {
    let result: Result<[Message], ControlError> = contents.withLock { contents in
      if let end = contents.end { return .failure(end) }
      let messages = contents.queues[controller] ?? []
      contents.queues[controller] = []
      return .success(messages)
    }
    return try result.get()
  }

  /// Reports the outcome of a request. Returns `false` if the request is void or already has an
  /// outcome, or if `run` is not the run of an act.
  func report(_ number: Int, run: String?, _ outcome: RequestOutcome) -> Bool {
    let entry = contents.withLock { contents in
      contents.open[number]?.run == run ? contents.close(number, announcing: false) : nil
    }
    entry?.continuation.resume(returning: outcome)
    return entry != nil
  }

  /// Ends the calls of all controllers when the room closes.
  func finish(_ error: ControlError) {
    contents.withLock { if $0.end == nil { $0.end = error } }
    change.raise()
  }
}
