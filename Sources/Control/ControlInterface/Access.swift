import Glibc
package import UnixSockets

/// The users who may call methods that change something: root, the daemon's user, and members of
/// the group `livehost`. All users may read.
package struct Access: Sendable {
  package static let groupName = "livehost"

  private let userID: UInt32
  private let groupID: UInt32?

  /// Reads the daemon's user and the group from the user database.
  package init() {
    self.init(userID: geteuid(), groupID: getgrnam(Self.groupName)?.pointee.gr_gid)
  }

  package init(userID: UInt32, groupID: UInt32?) {
    self.userID = userID
    self.groupID = groupID
  }

  /// Returns whether the user of a connected process may call privileged methods.
  package func mayChange(_ peer: Peer) -> Bool {
    peer.userID == 0 || peer.userID == userID
      || groupID.map { peer.belongs(toGroup: $0) } == true
  }
}
