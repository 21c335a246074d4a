import JSON
import NIOCore
import UnixSockets
import VarlinkDescription

/// Finds the handler of a call, checks the call and runs it. Each server has one dispatcher.
package final class Dispatcher: Sendable {
  private let interfaces: [JSONName: Interface]
  private let limits: VarlinkServer.Limits
  private let unexpectedError: @Sendable (Call, any Error) -> VarlinkError?

  /// - Parameter unexpectedError: See ``VarlinkServer``.
  package init(
    interfaces: [Interface], limits: VarlinkServer.Limits,
    unexpectedError: @escaping @Sendable (Call, any Error) -> VarlinkError?
  ) throws(VarlinkServer.StartError) {
    var byName: [JSONName: Interface] = [:]
    for interface in interfaces
    where byName.updateValue(interface, forKey: JSONName(interface.description.name)) != nil {
      throw .interfaceTwice(interface.description.name)
    }
    self.interfaces = byName
    self.limits = limits
    self.unexpectedError = unexpectedError
  }

  enum Outcome: Sendable {
    case reply(ByteBuffer)
    case error(VarlinkError)
    /// The connection must be closed, because no reply is possible.
    case close
  }

  /// Runs one call to completion. `path` is the name of the interface and the method. `seat` is the
  /// connection's registration, or nil if calls are not limited.
  func run(
    _ path: String, _ parameters: CallParameters, _ mode: CallMessage.Mode, seat: Clients.Seat?,
    replies: ReplyStream
  ) async -> Outcome {
    do {
      let (call, interface, handler) = try target(path, parameters, mode, peer: seat?.peer)
      try interface.authorization?(call)
      if case .stream(requiresMore: true, _) = handler, !call.wantsMore {
        throw ServiceError.expectedMore
      }
      if let name = interface.mismatch(of: call) { throw ServiceError.invalidParameter(name) }
      switch handler {
      case .single(let body):
        return .reply(try await body(call))
      case .stream(_, let body):
        if !call.wantsMore { return .reply(try await body(call, replies)) }
        if seat?.beginMonitor() == false { throw limits.tooManyMonitors }
        defer { seat?.endMonitor() }
        return .reply(try await body(call, replies))
      }
    } catch let error as any VarlinkErrorConvertible {
      return .error(error.varlinkError)
    } catch is CancellationError {
      return .close
    } catch {
      let call = Call(
        interface: "", method: path, content: parameters, mode: mode, peer: seat?.peer)
      return unexpectedError(call, error).map(Outcome.error) ?? .close
    }
  }

  /// - Complexity: O(*n*) in the bytes of the method's name.
  private func target(
    _ path: String, _ parameters: CallParameters, _ mode: CallMessage.Mode, peer: Peer?
  ) throws(ServiceError) -> (Call, Interface, MethodHandler) {
    let dot = path.utf8.lastIndex(of: UInt8(ascii: "."))
    let name = String(path[..<(dot ?? path.startIndex)])
    let method = String(path[(dot.map(path.utf8.index(after:)) ?? path.startIndex)...])
    guard let interface = interfaces[JSONName(name)] else { throw .interfaceNotFound(name) }
    guard interface.defines(method) else { throw .methodNotFound(method) }
    guard let handler = interface.handlers[JSONName(method)], mode != .upgrade else {
      throw .methodNotImplemented(method)
    }
    let call = Call(
      interface: name, method: method, content: parameters, mode: mode, peer: peer)
    return (call, interface, handler)
  }
}
