/// What the bearer of a link may do, in ascending order.
package enum PageRole: String, Sendable, CaseIterable, Codable {
  /// Reads everything that the control socket shows to every user.
  case viewer
  /// Also moderates the chat, and handles notices, activity and the waiting room.
  case moderator
  /// Also changes everything else.
  case host
}

extension PageRole: Comparable {
  private var rank: Int {
    switch self {
    case .viewer: 0
    case .moderator: 1
    case .host: 2
    }
  }

  package static func < (left: Self, right: Self) -> Bool { left.rank < right.rank }
}
