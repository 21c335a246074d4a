import Glibc
package import NIOCore

/// The process at the other end of a unix socket, as noted by the kernel when it connected.
///
/// The process may since have ended, or passed the socket to another.
package struct Peer: Sendable, Equatable {
  package let userID: UInt32
  /// The primary group.
  package let groupID: UInt32
  package let processID: Int32
  /// The supplementary groups, without the primary one unless it is listed there too.
  package let supplementaryGroupIDs: [UInt32]

  package init(
    userID: UInt32, groupID: UInt32, processID: Int32, supplementaryGroupIDs: [UInt32] = []
  ) {
    self.userID = userID
    self.groupID = groupID
    self.processID = processID
    self.supplementaryGroupIDs = supplementaryGroupIDs
  }

  /// Whether the group is the peer's primary one or among the supplementary ones.
  package func belongs(toGroup group: UInt32) -> Bool {
    groupID == group || supplementaryGroupIDs.contains(group)
  }

  /// Reads the credentials of a connected socket; nil if it is not a unix socket.
  package init?(socket: CInt) {
    // `struct ucred` of unix(7): pid, uid, gid. Glibc declares it for C's GNU dialect only.
    var credentials: (pid: Int32, uid: UInt32, gid: UInt32) = (0, 0, 0)
    var length = socklen_t(MemoryLayout.size(ofValue: credentials))
    guard getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &length) == 0 else {
      return nil
    }
    self.init(
      userID: credentials.uid, groupID: credentials.gid, processID: credentials.pid,
      supplementaryGroupIDs: Self.groups(ofPeerAt: socket))
  }

  /// The peer of a channel; nil if that is no unix socket. Call it on the channel's event loop.
  package init?(_ channel: any Channel) {
    let peer = try? channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(
      of: NIOBSDSocket.Handle.self
    ) { socket -> Peer? in Peer(socket: socket) }
    guard let peer, let peer else { return nil }
    self = peer
  }

  private static func groups(ofPeerAt socket: CInt) -> [UInt32] {
    // Asked with no room, the kernel answers ERANGE and the length that it needs.
    var length: socklen_t = 0
    guard getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, nil, &length) != 0, errno == ERANGE else {
      return []
    }
    var groups = [UInt32](repeating: 0, count: Int(length) / MemoryLayout<UInt32>.size)
    guard getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, &groups, &length) == 0 else { return [] }
    return groups
  }
}
