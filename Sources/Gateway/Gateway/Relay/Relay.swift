import ControlInterface
import JSON
import NIOCore
package import UnixSockets
package import Varlink
import VarlinkDescription

/// Finds the control socket of the daemon that has a room. If the room is `nil`, finds the socket
/// of the daemon that answers calls without a room.
package typealias OriginLookup = @Sendable (_ room: String?) async throws -> String

/// Serves `io.livehost.Control` on behalf of a daemon on another machine or socket, the origin.
///
/// The relay makes one monitoring call per room to the origin, however many viewers the relay
/// itself has. All other calls are forwarded unchanged, each over its own connection, so that a
/// slow call delays no other.
package struct Relay: Sendable {
  package let rooms: RelayedRooms
  private let origin: OriginLookup

  /// - Parameter maximumRate: the maximum number of states of a room per second; `nil` for no
  ///   limit.
  package init(origin: @escaping OriginLookup, maximumRate: Double?) {
    self.origin = origin
    rooms = RelayedRooms(origin: origin, maximumRate: maximumRate)
  }

  /// Returns the interface with its handlers, for a `VarlinkServer`.
  /// - Parameters:
  ///   - mayChange: whether a caller may use privileged methods. At the origin, all calls have the
  ///     rights of the user that runs the relay.
  ///   - own: adds the methods that the relay answers itself instead of forwarding them.
  package func makeInterface(
    mayChange: @escaping @Sendable (Peer) -> Bool,
    own: (inout Interface) throws -> Void = { _ in }
  ) throws -> Interface {
    var interface = Interface(try InterfaceDescription(parsing: ControlInterface.definition))
    interface.authorization = { call in
      guard ControlInterface.privilegedMethods.contains(call.method) else { return }
      guard let peer = call.peer, mayChange(peer) else { throw ServiceError.permissionDenied }
    }
    try ControlInterface.addMonitors(
      to: &interface,
      room: { [rooms] room, run in try await rooms.watch(room, as: .room, run) },
      screen: { [rooms] room, run in try await rooms.watch(room, as: .screen, run) })
    try own(&interface)
    for method in interface.unimplementedMethods {
      try interface.handleRawStream(method) { call, replies in
        try await pass(call, replies)
      }
    }
    return interface
  }

  /// Forwards a call to the origin, and its replies to the caller. If the caller disconnects, the
  /// call at the origin ends.
  private func pass(_ call: Call, _ replies: ReplyStream) async throws -> ByteBuffer {
    let name = "\(call.interface).\(call.method)"
    do {
      let client = try await VarlinkClient.connect(
        path: try await origin(call.parameters["room"]?.stringValue))
      guard call.wantsMore else {
        return JSONValue.object(try await client.callRaw(name, call.parameters)).buffer()
      }
      var answers = try client.callMore(
        name, JSONValue.object(call.parameters), returning: JSONValue.self
      ).makeAsyncIterator()
      while let answer = try await answers.next() {
        if answers.isFinished { return answer.buffer() }
        try await replies.send(parameters: answer.buffer())
      }
      throw CancellationError()
    } catch VarlinkClientError.remote(let error) {
      throw error
    } catch is VarlinkClientError {
      // The outcome of the call is unknown. The caller learns this because its connection is closed
      // without a reply.
      throw CancellationError()
    }
  }
}
