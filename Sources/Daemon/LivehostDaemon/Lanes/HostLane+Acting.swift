package import ControlInterface
package import LiveEvents
import RecorderFeature
package import WireFormats

extension HostLane {
  /// Performs an act of a room's host. Returns once it is applied or, where a surface was asked,
  /// once it has an outcome; and, in a room that is recorded or kept, once that is on disk, or with
  /// `recordingFailed` if it cannot be.
  ///
  /// - Parameters:
  ///   - position: the batch of a source that the act is; a room that has it only replies.
  ///   - taken: called once the act is applied, or is not to be.
  package func act(
    _ act: LiveEvent.Payload, in name: RoomName, at position: BatchPosition? = nil,
    taken: @escaping @Sendable () -> Void = {}
  ) async -> Result<HostReply, ControlError> {
    await withCheckedContinuation { continuation in
      postVisit(to: name) { room in
        guard let room else {
          return continuation.resume(returning: .failure(.noSuchRoom(name.description)))
        }
        defer { taken() }
        if let position, !room.take(position) {
          return room.whenDurable {
            continuation.resume(
              returning: Self.result(.success(HostReply()), unless: $0, of: name))
          }
        }
        let earlier = room.request(of: act)
        let result = room.act(act)
        if let request = room.request(of: act), request != earlier {
          // By another visit: the outcome comes in the middle of an action.
          return room.requests.whenEnded(request) { outcome in
            self.postVisit(to: name) { room in
              guard let room else {
                return continuation.resume(returning: .failure(.noSuchRoom(name.description)))
              }
              let reply = room.reply(to: act, outcome)
              room.whenDurable {
                continuation.resume(returning: Self.result(.success(reply), unless: $0, of: name))
              }
            }
          }
        }
        room.whenReviewed { room in
          let result = result.map { room.counted($0, to: act) }
          room.whenDurable {
            continuation.resume(returning: Self.result(result, unless: $0, of: name))
          }
        }
      }
    }
  }

  /// The result of an act; or why it is not kept, though it is done.
  private static func result(
    _ result: Result<HostReply, ControlError>, unless failure: String?, of room: RoomName
  ) -> Result<HostReply, ControlError> {
    guard let failure, case .success = result else { return result }
    return .failure(.recordingFailed(room: room.description, reason: failure))
  }

  /// Reports the outcome of a request. Returns once the room has taken it and, if the room is
  /// recorded or kept, has it on disk; `false` if the request is void.
  ///
  /// - Throws: `recordingFailed` if it cannot be on disk.
  func report(
    _ outcome: RequestOutcome, of request: RequestIdentifier
  ) async throws(ControlError) -> Bool {
    let isTaken = await withCheckedContinuation { continuation in
      postVisit(to: request.room) { room in
        let isTaken = room?.requests.report(outcome, of: request.number) {
          continuation.resume(returning: true)
        }
        if isTaken != true { continuation.resume(returning: false) }
      }
    }
    if isTaken { try await save(request.room) }
    return isTaken
  }

  /// Has a room's recorder do something, and returns the outcome.
  func wish(
    _ wish: RecorderWish, in name: RoomName, retries: Bool
  ) async throws(ControlError) -> RecorderOutcome {
    let result: Result<RecorderOutcome, ControlError> = await withCheckedContinuation {
      continuation in
      postVisit(to: name) { room in
        guard let room else {
          return continuation.resume(returning: .failure(.noSuchRoom(name.description)))
        }
        room.wish(wish, retries: retries) { continuation.resume(returning: $0) }
      }
    }
    return try result.get()
  }
}
