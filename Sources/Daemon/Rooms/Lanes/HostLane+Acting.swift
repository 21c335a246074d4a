package import ControlInterface
package import LiveEvents
import RecorderFeature
package import WireFormats

extension HostLane {
  /// Performs an act of a room's host. Returns once the act is applied or, if a controller must
  /// confirm it, once its request has an outcome. In a room that is logged or recorded, also waits
  /// until the act and its outcome are on disk; fails with `recordingFailed` if they cannot be
  /// written.
  ///
  /// - Parameters:
  ///   - position: the position of the act among the batches of a source. A room that has received
  ///     this batch does not apply the act again.
  ///   - taken: called once the act is applied or refused.
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
        if let position, !room.accept(position) {
          return room.whenDurable {
            continuation.resume(
              returning: Self.result(.success(HostReply()), unless: $0, of: name))
          }
        }
        let earlier = room.request(of: act)
        let result = room.act(act)
        if let request = room.request(of: act), request != earlier {
          // The outcome arrives during the reduction of an action, but the reply depends on the
          // state after it. The reply is therefore made in another visit.
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
          let result = result.map { room.withCounts($0, to: act) }
          room.whenDurable {
            continuation.resume(returning: Self.result(result, unless: $0, of: name))
          }
        }
      }
    }
  }

  /// Returns the result of an act; replaces success with an error if the act could not be written
  /// to disk.
  private static func result(
    _ result: Result<HostReply, ControlError>, unless failure: String?, of room: RoomName
  ) -> Result<HostReply, ControlError> {
    guard let failure, case .success = result else { return result }
    return .failure(.recordingFailed(room: room.description, reason: failure))
  }

  /// Reports the outcome of a request. Returns once the room has applied the outcome and, if it is
  /// logged or recorded, written it to disk. Returns `false` if the request is void. Throws
  /// `recordingFailed` if writing fails.
  package func report(
    _ outcome: RequestOutcome, of request: RequestIdentifier
  ) async throws(ControlError) -> Bool {
    let isTaken = await withCheckedContinuation { continuation in
      postVisit(to: request.room) { room in
        let isTaken = room?.requests.report(outcome, of: request) {
          continuation.resume(returning: true)
        }
        if isTaken != true { continuation.resume(returning: false) }
      }
    }
    if isTaken { try await save(request.room) }
    return isTaken
  }

  /// Sends a request to a room's recorder, and returns the outcome.
  func requestRecording(
    _ wish: RecorderWish, in name: RoomName, retries: Bool
  ) async throws(ControlError) -> RecorderOutcome {
    let result: Result<RecorderOutcome, ControlError> = await withCheckedContinuation {
      continuation in
      postVisit(to: name) { room in
        guard let room else {
          return continuation.resume(returning: .failure(.noSuchRoom(name.description)))
        }
        room.requestRecording(wish, retries: retries) { continuation.resume(returning: $0) }
      }
    }
    return try result.get()
  }
}
