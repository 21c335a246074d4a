public import Composable

/// A part of the screen: a function from the fields of a state to a small tree of output.
///
/// The graph records which fields the view reads, and evaluates the view again only when one of
/// these fields has changed, at most once per frame.
public protocol View {
  associatedtype State: ObservableState

  /// The name in logs, counters and scenarios, such as `ChatView`.
  static var name: String { get }

  /// Describes the screen for `state`. Runs on the lane. The result must depend only on what the
  /// body reads from `state`. Expensive work belongs in the model.
  func body(_ state: Observed<State>, _ context: ViewContext) -> ViewNode

  /// Returns the rows that precede the rows of the scrolling list in `body`, oldest first. A frame
  /// draws only the newest rows, so that its cost is bounded; subscribers also receive earlier
  /// rows. Runs on the lane for each reading of the screen. Must depend only on fields that `body`
  /// reads.
  func earlierRows(_ state: State) -> [ViewNode.ListRow]
}

extension View {
  public func earlierRows(_ state: State) -> [ViewNode.ListRow] { [] }
}

/// The identity of a view while it is on the screen.
public struct ViewID: Hashable, Sendable, Comparable {
  public let number: Int
  public init(number: Int) { self.number = number }
  public static func < (lhs: ViewID, rhs: ViewID) -> Bool { lhs.number < rhs.number }
}
