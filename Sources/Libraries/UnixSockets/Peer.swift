import Glibc
package import NIOCore

/// The process at the other end of a Unix socket, as recorded by the kernel when it connected. The
/// process may have ended since, or passed the socket to another process.
package struct Peer: Sendable, Equatable {
  package let userID: UInt32
  /// The primary group.
  package let groupID: UInt32
  package let processID: Int32
  /// The supplementary groups, which contain the primary group only if it is also listed there.
  package let supplementaryGroupIDs: [UInt32]

  package init(
    userID: UInt32, groupID: UInt32, processID: Int32, supplementaryGroupIDs: [UInt32] = []
  ) {
    self.userID = userID
    self.groupID = groupID
    self.processID = processID
    self.supplementaryGroupIDs = supplementaryGroupIDs
  }

  /// Returns whether the group is the peer's primary group or a supplementary one.
  package func belongs(toGroup group: UInt32) -> Bool {
    groupID == group || supplementaryGroupIDs.contains(group)
  }

  /// Reads the credentials of a connected socket. Fails if the socket is not a Unix socket.
  package init?(socket: CInt) {
    // `struct ucred` of unix(7), which Glibc declares only for C's GNU dialect: pid, uid, gid.
    var credentials: (pid: Int32, uid: UInt32, gid: UInt32) = (0, 0, 0)
    var length = socklen_t(MemoryLayout.size(ofValue: credentials))
    guard getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &length) == 0 else {
      return nil
    }
    self.init(
      userID: credentials.uid, groupID: credentials.gid, processID: credentials.pid,
      supplementaryGroupIDs: Self.groups(ofPeerAt: socket))
  }

  /// Reads the peer of a channel. Fails if the channel is not a Unix socket. Must be called on the
  /// channel's event loop.
  package init?(_ channel: any Channel) {
    let peer = try? channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(
      of: NIOBSDSocket.Handle.self
    ) { socket -> Peer? in Peer(socket: socket) }
    guard let peer, let peer else { return nil }
    self = peer
  }

  private static func groups(ofPeerAt socket: CInt) -> [UInt32] {
    // Without a buffer, the kernel returns ERANGE and the required length.
    var length: socklen_t = 0
    guard getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, nil, &length) != 0, errno == ERANGE else {
      return []
    }
    var groups = [UInt32](repeating: 0, count: Int(length) / MemoryLayout<UInt32>.size)
    guard getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, &groups, &length) == 0 else { return [] }
    return groups
  }
}
