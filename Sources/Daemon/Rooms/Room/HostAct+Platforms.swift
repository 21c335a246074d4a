import ChatFeature
import ControlFeature
import ControlInterface
import HostFeature
import LiveEvents

// Chooses the platform, source and controller of an act, and gives the reason if none fits.

extension HostAct {
  /// Adds the platform and the source of the affected message or person to an act on a platform, if
  /// the chat knows them. Returns any other act unchanged.
  ///
  /// The source that reads a chat is not always the one that acts on the platform. The source is
  /// therefore named only if a controller belongs to it.
  static func completing(_ event: LiveEvent.Payload, in state: State) -> LiveEvent.Payload {
    guard case .control(.act(var request)) = event, let origin = origin(of: request, in: state)
    else { return event }
    if request.platform == nil, !origin.platform.isEmpty { request.platform = origin.platform }
    let offers = state.control.requests?.offers ?? []
    let isController = offers.contains { offer in
      offer.source == origin.source && offer.kinds.contains(request.act.kind)
        && (offer.platform == nil || offer.platform == request.platform)
    }
    if request.source == nil, request.platform == origin.platform, isController {
      request.source = origin.source
    }
    return .control(.act(request))
  }

  private static func origin(of request: RequestedAct, in state: State) -> Origin? {
    let messages = state.chat?.messages
    if let message = request.act.message { return messages?.newest(withID: message)?.origin }
    guard let person = request.act.person else { return nil }
    return messages?.last { displayed in
      displayed.message.userID == person.id
        && (request.platform == nil || displayed.origin.platform == request.platform)
    }?.origin
  }

  /// Returns the reason why an act cannot be sent to a controller; `nil` if it can.
  func refusal(of request: RequestedAct, in state: State) -> ControlError? {
    do throws(Requests.ActRefusal) {
      guard let requests = state.control.requests else { return noController(for: request) }
      _ = try requests.controller(for: request)
      return nil
    } catch {
      switch error {
      case .noController: return noController(for: request)
      case .severalControllers(let offers):
        let names = offers.map { offer in
          [offer.platform, offer.source].compactMap { $0.map { String($0) } }
            .joined(separator: "/")
        }
        return .severalControllers(
          room: room.description, act: request.act.kind.rawValue,
          choices: names.joined(separator: ", "))
      case .tooManyActs: return .limitReached("acts")
      }
    }
  }

  func noController(for request: RequestedAct) -> ControlError {
    .noController(
      room: room.description, act: request.act.kind.rawValue,
      platform: request.platform.map { String($0) })
  }
}
