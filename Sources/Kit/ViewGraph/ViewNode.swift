/// What a view looks like: a small tree that a terminal, a web page and subscribers draw.
///
/// It says what things are and mean, never where they are or which colour they have. Texts may come from
/// strangers: whoever draws them makes them harmless.
public indirect enum ViewNode: Hashable, Sendable {
  case empty
  case text(String, Emphasis = .normal)
  /// A short word that stands out, such as `LIVE`.
  case badge(String, Emphasis)
  /// A level from 0 to 1, and the same as text with its unit.
  case gauge(label: String, value: Double, text: String, Emphasis = .normal)
  /// A figure over time, oldest sample first. The lowest sample need not be zero.
  case sparkline([Float])
  /// Side by side; what does not fit goes below.
  case row([ViewNode])
  /// One above the other.
  case column([ViewNode])
  /// Cells in columns; each row has a cell for each column.
  case table([TableColumn], [[ViewNode]])
  /// Elements with stable identity, one row each.
  ///
  /// - Parameter scrolling: names what the rows are the newest of; `nil` if these are all. While the
  ///   name stays the same, rows that came before can be kept and scrolled to by their identity.
  case list([ListRow], scrolling: String? = nil)
  case panel(Panel, ViewNode)
  /// A node with which people can do something; see ``acting(_:)``.
  case acting([ViewAct], ViewNode)
  /// The output of another view, which is evaluated on its own.
  case child(ViewID)

  /// What a piece of text means; its colour follows from that.
  public enum Emphasis: String, Hashable, Sendable, CaseIterable {
    case normal, strong, faint
    /// As it should be.
    case good
    /// Needs attention.
    case warning
    /// Wrong.
    case bad
    /// Under way and seen by others: on the air, being recorded.
    case active
    /// The name of a person.
    case person
  }

  public struct ListRow: Hashable, Sendable {
    public var id: String
    public var node: ViewNode

    public init(id: String, _ node: ViewNode) {
      self.id = id
      self.node = node
    }
  }

  public struct TableColumn: Hashable, Sendable {
    public enum Alignment: String, Hashable, Sendable, CaseIterable { case left, right }

    /// Empty for a column without a heading.
    public var title: String
    public var alignment: Alignment
    /// Whether it may be left out where there is little space.
    public var isOptional: Bool

    public init(_ title: String, _ alignment: Alignment = .left, isOptional: Bool = false) {
      self.title = title
      self.alignment = alignment
      self.isOptional = isOptional
    }
  }

  /// A titled frame around a part of the screen. What it says about rows is about those within.
  public struct Panel: Hashable, Sendable {
    /// Names the part for programs, such as `chat`; stable.
    public var name: String
    public var title: String
    /// Panels with a lower number stay longer on a small screen, and come first.
    public var priority: Int
    /// Fewer rows than this are not worth showing.
    public var minimumRows: Int
    /// More rows than this are of no use; `nil` if it can use all there are.
    public var usefulRows: Int?

    public init(
      _ name: String, title: String, priority: Int, minimumRows: Int = 1, usefulRows: Int? = nil
    ) {
      self.name = name
      self.title = title
      self.priority = priority
      self.minimumRows = minimumRows
      self.usefulRows = usefulRows
    }
  }
}

extension ViewNode {
  /// What has to be laid out and drawn for it: texts, badges, gauges, sparklines, frames, rows of lists
  /// with what is in them, and rows of tables as one each. What only arranges others, and the views
  /// below, count nothing.
  public var elementCount: Int {
    switch self {
    case .empty, .child: 0
    case .text, .badge, .gauge, .sparkline: 1
    case .row(let nodes), .column(let nodes): nodes.reduce(0) { $0 + $1.elementCount }
    case .table(_, let rows): rows.count
    case .list(let rows, _): rows.reduce(rows.count) { $0 + $1.node.elementCount }
    case .panel(_, let inner): 1 + inner.elementCount
    case .acting(_, let inner): inner.elementCount
    }
  }

  /// This node with `change` applied to the nodes directly within it.
  func mapChildren(_ change: (ViewNode) -> ViewNode) -> ViewNode {
    switch self {
    case .empty, .text, .badge, .gauge, .sparkline, .child: self
    case .row(let nodes): .row(nodes.map(change))
    case .column(let nodes): .column(nodes.map(change))
    case .table(let columns, let rows): .table(columns, rows.map { $0.map(change) })
    case .list(let rows, let scrolling):
      .list(rows.map { ListRow(id: $0.id, change($0.node)) }, scrolling: scrolling)
    case .panel(let panel, let inner): .panel(panel, change(inner))
    case .acting(let acts, let inner): .acting(acts, change(inner))
    }
  }

  /// This node with rows put before those of its scrolling list; it has one at most.
  func prepending(_ earlier: [ListRow]) -> ViewNode {
    if earlier.isEmpty { return self }
    if case .list(let rows, let scrolling?) = self {
      return .list(earlier + rows, scrolling: scrolling)
    }
    return mapChildren { $0.prepending(earlier) }
  }
}

/// Texts may come from strangers. As equal counts what has the same bytes: whether different ones read the
/// same takes time that can grow with the square of their length.
extension ViewNode {
  public static func == (left: ViewNode, right: ViewNode) -> Bool {
    switch (left, right) {
    case (.empty, .empty): true
    case (.text(let left, let emphasis), .text(let right, let other)),
      (.badge(let left, let emphasis), .badge(let right, let other)):
      emphasis == other && left.hasBytes(of: right)
    case (
      .gauge(let label, let value, let text, let emphasis),
      .gauge(let otherLabel, let otherValue, let otherText, let other)
    ):
      value == otherValue && emphasis == other && label.hasBytes(of: otherLabel)
        && text.hasBytes(of: otherText)
    case (.sparkline(let left), .sparkline(let right)): left == right
    case (.row(let left), .row(let right)), (.column(let left), .column(let right)): left == right
    case (.table(let columns, let rows), .table(let otherColumns, let otherRows)):
      columns == otherColumns && rows == otherRows
    case (.list(let rows, let scrolling), .list(let otherRows, let other)):
      scrolling == other && rows == otherRows
    case (.panel(let panel, let inner), .panel(let otherPanel, let otherInner)):
      panel == otherPanel && inner == otherInner
    case (.acting(let acts, let inner), .acting(let otherActs, let otherInner)):
      acts == otherActs && inner == otherInner
    case (.child(let left), .child(let right)): left == right
    case (.empty, _), (.text, _), (.badge, _), (.gauge, _), (.sparkline, _), (.row, _),
      (.column, _),
      (.table, _), (.list, _), (.panel, _), (.acting, _), (.child, _):
      false
    }
  }
}

extension ViewNode.ListRow {
  public static func == (left: Self, right: Self) -> Bool {
    left.id.hasBytes(of: right.id) && left.node == right.node
  }
}

extension String {
  func hasBytes(of other: String) -> Bool {
    utf8.count == other.utf8.count && utf8.elementsEqual(other.utf8)
  }
}
