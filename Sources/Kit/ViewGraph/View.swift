public import Composable

/// A part of the screen: a function from the fields that it reads to a small tree of output.
///
/// Its reads are recorded. It is evaluated again only when one of those fields changed, at most once
/// per frame.
public protocol View {
  associatedtype State: ObservableState

  /// Name in logs, counters and scenarios, such as `ChatView`.
  static var name: String { get }

  /// Describes the screen for `state`.
  ///
  /// Runs on the lane. Must be a function of what it reads from `state`; work that is heavy belongs in
  /// the model.
  func body(_ state: Observed<State>, _ context: ViewContext) -> ViewNode

  /// The rows that come before those of the scrolling list in `body`, oldest first.
  ///
  /// A frame draws the newest rows only, so that its cost stays bounded; whoever looks at the screen gets
  /// these as well. Runs on the lane, for each look. Must depend on fields that `body` reads.
  func earlierRows(_ state: State) -> [ViewNode.ListRow]
}

extension View {
  public func earlierRows(_ state: State) -> [ViewNode.ListRow] { [] }
}

/// Names one view of a screen, for as long as it is on it.
public struct ViewID: Hashable, Sendable, Comparable {
  public let number: Int
  public init(number: Int) { self.number = number }
  public static func < (lhs: ViewID, rhs: ViewID) -> Bool { lhs.number < rhs.number }
}
