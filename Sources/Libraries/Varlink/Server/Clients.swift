import Locking
import NIOCore
import SystemSupport
package import UnixSockets

/// The clients of a server and their shares of its resources: ``ClientShares`` protected by a lock.
/// Closes connections in favour of others. Can be used from any thread.
package final class Clients: Sendable {
  /// One registered connection. Used on the connection's event loop.
  package struct Seat: Sendable {
    let id: ClientShares.ID
    let clients: Clients
    /// The client's process, or nil if the connection is not a Unix socket.
    let peer: Peer?
    let hasRights: Bool

    func update(bytes: Int, isIdle: Bool) {
      clients.close(clients.state.withLock { $0.shares.update(id, bytes: bytes, isIdle: isIdle) })
    }

    // Never inlined into an asynchronous function; see `Guarded`.

    @inline(never)
    func beginMonitor() -> Bool { clients.state.withLock { $0.shares.beginMonitor(id) } }

    @inline(never)
    func endMonitor() { clients.state.withLock { $0.shares.endMonitor(id) } }

    /// Acquires the turn for a call of a client without rights; the caller must end the turn. If
    /// another call has the turn, returns false, and calls `resume` as soon as the turn is
    /// acquired.
    func acquireTurn(_ resume: @escaping @Sendable () -> Void) -> Bool {
      clients.state.withLock { $0.turns.acquire(resume, as: id, of: peer?.userID) }
    }

    func leaveTurn() { clients.state.withLock { $0.turns.leave(id, of: peer?.userID) } }

    /// Ends the turn after a pause, in which the event loop serves other connections.
    func endTurn(on eventLoop: any EventLoop) {
      eventLoop.scheduleTask(in: .milliseconds(1)) { [clients] in
        clients.state.withLock { $0.turns.next() }?()
      }
    }

    func refuse(_ resource: RefusedResource) {
      clients.state.withLock { $0.shares.refuse(resource, to: id) }
    }
  }

  private struct State {
    var shares: ClientShares
    var turns = TurnQueue<ClientShares.ID, @Sendable () -> Void>()
    var channels: [ClientShares.ID: any Channel] = [:]
  }

  private let state: Guarded<State>
  private let rank: @Sendable (Peer) -> ClientShares.Rank

  /// - Parameter rank: Returns the share that a peer may use.
  package init(
    _ limits: ClientShares.Limits, rank: @escaping @Sendable (Peer) -> ClientShares.Rank
  ) {
    state = Guarded(State(shares: ClientShares(limits)))
    self.rank = rank
  }

  /// The number of connections that are open, or closed with a call still running.
  var connections: Int { state.withLock { $0.shares.connections } }

  var monitors: Int { state.withLock { $0.shares.monitors } }

  /// The resources that were refused or withdrawn.
  var refusals: RefusalCounts { state.withLock { $0.shares.refusals } }

  /// Admits a connection, closing idle ones if necessary, or returns nil if it is refused.
  func admit(_ channel: any Channel, peer: Peer?) -> Seat? {
    let rank = peer.map(rank) ?? .stranger
    let (id, closing) = state.withLock { state in
      let (id, closing) = state.shares.connect(user: peer?.userID, as: rank)
      if let id { state.channels[id] = channel }
      return (id, closing)
    }
    close(closing)
    return id.map { Seat(id: $0, clients: self, peer: peer, hasRights: rank != .stranger) }
  }

  /// Removes a connection that is closed and whose last call has ended.
  func remove(_ id: ClientShares.ID) {
    state.withLock { state in
      state.shares.disconnect(id)
      state.channels[id] = nil
    }
  }

  private func close(_ ids: [ClientShares.ID]) {
    guard !ids.isEmpty else { return }
    let channels = state.withLock { state in ids.compactMap { state.channels[$0] } }
    for channel in channels { channel.close(promise: nil) }
  }
}
