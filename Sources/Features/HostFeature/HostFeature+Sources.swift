import Composable
import ControlFeature
import EncoderStatsFeature
import HeaderFeature
import LiveEvents
import SourcesFeature

// A room may show several platforms. The stream is live while it is live on any of them.

extension HostFeature {
  /// Records a source's new phase, and enters the phase that results from the phases of all
  /// sources. Runs the header's reducer directly, so that one event remains one action.
  func enter(
    _ phase: StreamState, at time: Timestamp, from origin: Origin, in state: inout State
  ) -> Effect<Action> {
    var effect = header(.streamChanged(phase, at: time, from: origin), in: &state)
    state.followHeader()
    if phase == .ended, state.phase != .ended {
      effect = effect.followed(by: endStatistics(of: origin, in: &state))
    }
    return phase == .ended ? effect.followed(by: confirmEndRequest(in: state)) : effect
  }

  /// Ends the stream of every source, because the host ended it without a controller.
  func endStreams(at time: Timestamp, in state: inout State) -> Effect<Action> {
    let effect = header(.streamsEnded(at: time), in: &state)
    state.followHeader()
    return effect.followed(by: confirmEndRequest(in: state))
  }

  /// Advances the header's time. The phase changes if it depended on a source that has disappeared
  /// without ending its stream.
  func tickHeader(at time: Timestamp, in state: inout State) -> Effect<Action> {
    guard state.header.parts != nil else { return header(.ticked(at: time), in: &state) }
    state.passConnectionsToHeader()
    let phase = state.header.phase
    let effect = header(.ticked(at: time), in: &state)
    if state.header.phase != phase { state.followHeader() }
    return effect
  }

  /// Confirms the outstanding request to end the stream, if there is one.
  private func confirmEndRequest(in state: State) -> Effect<Action> {
    guard state.control.requests?.outstanding(for: ControlFeature.endStream) != nil else {
      return .none
    }
    return .send(.control(.streamEnded))
  }

  private func endStatistics(of origin: Origin, in state: inout State) -> Effect<Action> {
    guard let statistics = state.liveRoomStats else { return .none }
    guard statistics.hasOnly(origin) else {
      return EncoderStatsFeature().reduce(
        into: &state.liveRoomStats!, action: .sourceEnded(origin)
      ).map(Action.liveRoomStats)
    }
    state.removeStatistics()
    return .none
  }
}

extension HostFeature.State {
  /// Enters the phase that the header shows.
  fileprivate mutating func followHeader() {
    guard let phase = header.phase else { return }
    self.phase = phase
    removeChildren(for: phase)
  }

  /// Passes the states of the sources to the header, which needs them only if there are several.
  mutating func passConnectionsToHeader() {
    guard header.parts != nil, let sources = sources?.sources else { return }
    header.setConnections { name in
      name.isEmpty ? nil : sources.first { $0.name == name }?.status?.state
    }
  }
}
