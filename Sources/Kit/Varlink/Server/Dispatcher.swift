import NIOCore
import Platform
import VarlinkDescription

/// Finds the handler of a call, checks the call and runs it. One for all connections of a server.
package final class Dispatcher: Sendable {
  private let interfaces: [String: Interface]
  private let limits: VarlinkServer.Limits
  private let monitors = Guarded(0)
  private let unexpectedError: @Sendable (Call, any Error) -> VarlinkError?

  /// - Parameter unexpectedError: as in ``VarlinkServer``.
  package init(
    interfaces: [Interface], limits: VarlinkServer.Limits,
    unexpectedError: @escaping @Sendable (Call, any Error) -> VarlinkError?
  ) throws(VarlinkServer.StartError) {
    var byName: [String: Interface] = [:]
    for interface in interfaces
    where byName.updateValue(interface, forKey: interface.description.name) != nil {
      throw .interfaceTwice(interface.description.name)
    }
    self.interfaces = byName
    self.limits = limits
    self.unexpectedError = unexpectedError
  }

  /// The number of calls with `more` in progress.
  var runningMonitors: Int { monitors.withLock { $0 } }

  enum Outcome: Sendable {
    case reply(ByteBuffer)
    case error(VarlinkError)
    /// The connection must be closed because no reply is possible.
    case close
  }

  /// Runs one call to its end.
  func run(_ message: CallMessage, peer: Peer?, replies: ReplyStream) async -> Outcome {
    do {
      let (call, interface, handler) = try target(of: message, peer: peer)
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
        try beginMonitor()
        defer { monitors.withLock { $0 -= 1 } }
        return .reply(try await body(call, replies))
      }
    } catch let error as any VarlinkErrorConvertible {
      return .error(error.varlinkError)
    } catch is CancellationError {
      return .close
    } catch {
      let call = Call(message, interface: "", method: message.method, peer: peer)
      return unexpectedError(call, error).map(Outcome.error) ?? .close
    }
  }

  private func target(
    of message: CallMessage, peer: Peer?
  ) throws(ServiceError) -> (Call, Interface, MethodHandler) {
    let dot = message.method.lastIndex(of: ".") ?? message.method.startIndex
    let name = String(message.method[..<dot])
    let method = String(message.method[dot...].drop { $0 == "." })
    guard let interface = interfaces[name] else { throw .interfaceNotFound(name) }
    guard interface.defines(method) else { throw .methodNotFound(method) }
    guard let handler = interface.handlers[method], message.mode != .upgrade else {
      throw .methodNotImplemented(method)
    }
    let call = Call(message, interface: name, method: method, peer: peer)
    return (call, interface, handler)
  }

  private func beginMonitor() throws {
    let isAdmitted = monitors.withLock { count in
      guard count < limits.monitors else { return false }
      count += 1
      return true
    }
    if !isAdmitted { throw limits.tooManyMonitors }
  }
}

extension Call {
  init(_ message: CallMessage, interface: String, method: String, peer: Peer?) {
    self.init(
      interface: interface, method: method, parameters: message.parameters,
      wantsMore: message.mode == .more, isOneway: message.mode == .oneway, peer: peer)
  }
}
