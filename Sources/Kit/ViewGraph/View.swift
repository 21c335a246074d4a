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
}

/// What a view looks like: a small tree that the terminal, a web page and subscribers share.
public indirect enum ViewNode: Hashable, Sendable {
  case empty
  case text(String, Emphasis = .normal)
  /// A level from 0 to 1.
  case gauge(label: String, value: Double)
  /// Side by side.
  case row([ViewNode])
  /// One above the other.
  case column([ViewNode])
  /// Elements with stable identity, one row each.
  case list([ListRow])
  /// A titled frame.
  case panel(title: String, ViewNode)
  /// The output of another view, which is evaluated on its own.
  case child(ViewID)

  public enum Emphasis: String, Hashable, Sendable { case normal, strong, faint, warning }

  public struct ListRow: Hashable, Sendable {
    public var id: String
    public var node: ViewNode

    public init(id: String, _ node: ViewNode) {
      self.id = id
      self.node = node
    }
  }
}

/// Names one view of a screen, for as long as it is on it.
public struct ViewID: Hashable, Sendable, Comparable {
  public let number: Int
  public init(number: Int) { self.number = number }
  public static func < (lhs: ViewID, rhs: ViewID) -> Bool { lhs.number < rhs.number }
}
