import Glibc
package import UnixSockets

/// Who may change things by the control socket: root, the daemon's own user, and members of the group
/// `livehost`. Everyone may read.
package struct Access: Sendable {
  package static let groupName = "livehost"

  private let userID: UInt32
  private let groupID: UInt32?

  /// Access by the present user database.
  package init() {
    self.init(userID: geteuid(), groupID: getgrnam(Self.groupName)?.pointee.gr_gid)
  }

  package init(userID: UInt32, groupID: UInt32?) {
    self.userID = userID
    self.groupID = groupID
  }

  package func mayChange(_ peer: Peer) -> Bool {
    peer.userID == 0 || peer.userID == userID
      || groupID.map { peer.belongs(toGroup: $0) } == true
  }
}
