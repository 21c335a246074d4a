import JSON
package import LiveEvents
import LiveSources
package import RateLimiting

/// A request of the room to OBS.
package struct ObsCommand: Equatable, Sendable {
  package enum Kind: Equatable, Sendable {
    case slider(String, value: Double)
    case `switch`(String, on: Bool)
    case endStream
    case record(RecorderWish)
  }

  package var identifier: String
  package var kind: Kind

  package init(identifier: String, kind: Kind) {
    self.identifier = identifier
    self.kind = kind
  }
}

/// Forwards the room's requests to OBS, and confirms each when OBS has carried it out.
extension ObsSession {
  /// Sends a request from the room to OBS.
  package mutating func handle(_ command: ObsCommand, at now: Instant) {
    // The daemon sends outstanding requests again when the source reconnects.
    guard pending[command.identifier] == nil else { return }
    guard case .ready = phase else { return refuse(command.identifier, "OBS is not connected") }
    guard pending.count < Self.maximumPending else {
      return refuse(command.identifier, "OBS does not answer")
    }
    switch request(for: command.kind) {
    case .success(let (request, awaited)):
      pending[command.identifier] = Pending(awaited: awaited)
      perform(.send(link, ObsMessage.request(request, id: command.identifier)))
    case .failure(let refusal): refuse(command.identifier, refusal.reason)
    }
  }

  /// Forgets a request that the room has withdrawn. If OBS carries it out nevertheless, OBS reports
  /// the change as an event.
  package mutating func withdraw(_ identifier: String) { pending[identifier] = nil }

  mutating func refuse(_ identifier: String, _ reason: String) {
    pending[identifier] = nil
    perform(.outcome(request: identifier, .refused(reason: reason)))
  }

  private struct Refusal: Error { var reason: String }

  private func request(
    for kind: ObsCommand.Kind
  ) -> Result<(ObsRequest, Pending.Awaited), Refusal> {
    switch kind {
    case .endStream: return .success((ObsRequest("StopStream"), .answer))
    case .record(.start): return .success((ObsRequest("StartRecord"), .recording))
    case .record(.stop): return .success((ObsRequest("StopRecord"), .answer))
    case .record(.pause): return .success((ObsRequest("PauseRecord"), .answer))
    case .record(.resume): return .success((ObsRequest("ResumeRecord"), .answer))
    case .slider(let name, let value):
      guard let input = mixer.input(ofSlider: name) else {
        return .failure(Refusal(reason: "OBS has no input with this name"))
      }
      let volume: (JSONName, Double) =
        value > 0
        ? ("inputVolumeDb", max(ObsFader.decibels(position: value), -100))
        : ("inputVolumeMul", 0)
      return .success(
        (
          ObsRequest("SetInputVolume", ["inputName": .string(input), volume.0: .number(volume.1)]),
          .answer
        ))
    case .switch(let name, let on):
      switch mixer.switch(name) {
      case .mute(let input)?:
        return .success(
          (
            ObsRequest("SetInputMute", ["inputName": .string(input), "inputMuted": .bool(on)]),
            .answer
          ))
      case .scene(let scene)? where on:
        return .success(
          (ObsRequest("SetCurrentProgramScene", ["sceneName": .string(scene)]), .answer))
      case .scene?:
        return .failure(Refusal(reason: "one scene is always on air; select another scene instead"))
      case .stream?:
        return .success(
          on ? (ObsRequest("StartStream"), .stream) : (ObsRequest("StopStream"), .answer))
      case nil: return .failure(Refusal(reason: "OBS has no such switch"))
      }
    }
  }

  /// Processes OBS's answer to a request.
  mutating func process(_ response: ObsResponse, at now: Instant) {
    guard let waiting = pending[response.id] else { return }
    guard response.isDone else {
      let reason =
        response.code == ObsMessage.Status.notReady
        ? "OBS is not ready" : response.comment ?? "OBS refused the request (code \(response.code))"
      return refuse(response.id, String(reason.unicodeScalars.prefix(120)))
    }
    switch waiting.awaited {
    case .answer: confirm(response.id)
    case .stream, .recording:
      // The response only confirms that OBS tries to start the output. The event that reports the
      // start may have arrived already.
      let sentPolls = polls
      pending[response.id]?.answered = sentPolls
      let isRunning =
        waiting.awaited == .stream ? stream.state.isActive : recording.state == .running
      if isRunning { confirm(response.id) }
    }
  }

  private mutating func confirm(_ identifier: String) {
    pending[identifier] = nil
    perform(.outcome(request: identifier, .confirmed))
  }

  /// Resolves the requests that wait for an output to start. A poll resolves only requests that OBS
  /// had answered before the poll was sent.
  mutating func settle(
    _ awaited: Pending.Awaited, isRunning: Bool, byPoll: Bool, _ reason: String
  ) {
    for (identifier, request) in pending.sorted(by: { $0.key < $1.key })
    where request.awaited == awaited {
      guard let answered = request.answered else { continue }
      if isRunning {
        confirm(identifier)
      } else if !byPoll || answered < polls {
        refuse(identifier, reason)
      }
    }
  }
}
