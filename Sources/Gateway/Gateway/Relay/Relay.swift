import ControlInterface
import JSON
import NIOCore
package import UnixSockets
package import Varlink
import VarlinkDescription

/// The control socket of the daemon that has a room; given `nil`, of the one that answers for everything else.
package typealias OriginLookup = @Sendable (_ room: String?) async throws -> String

/// Serves `io.livehost.Control` for a daemon elsewhere.
///
/// Rooms are watched there once each, whatever is watched here. All other calls are passed on as they are, each on
/// a connection of its own, so that one that takes long delays no other.
package struct Relay: Sendable {
  package let rooms: RelayedRooms
  private let origin: OriginLookup

  /// - Parameter maximumRate: how often a room may change here, per second; nil means as often as there.
  package init(origin: @escaping OriginLookup, maximumRate: Double?) {
    self.origin = origin
    rooms = RelayedRooms(origin: origin, maximumRate: maximumRate)
  }

  /// The interface with its handlers, for a `VarlinkServer`.
  /// - Parameters:
  ///   - mayChange: whether a caller may use privileged methods. At the origin this relay acts as its own user.
  ///   - own: methods that are not passed on, since they are registered already.
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

  /// Passes a call on, and its replies back. A caller that disconnects ends the call there, too.
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
      // Nothing is known of the call: whoever made it learns that from the end of the connection.
      throw CancellationError()
    }
  }
}
