/// What a view looks like: a small tree that a terminal, a web page and subscribers draw.
///
/// It says what things are and mean, never where they are or which colour they have, but for the colours that
/// people have chosen for their names. Texts may come from strangers: whoever draws them makes them harmless.
public indirect enum ViewNode: Hashable, Sendable {
  case empty
  case text(String, Emphasis = .normal)
  /// A text with parts that stand out, given in Unicode scalars, in order and within the text.
  case marked(String, [Range<Int>], Emphasis = .normal)
  /// The name of a person with what is known about them; without that a text does.
  case person(Person)
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

  /// A person, as one element.
  public struct Person: Hashable, Sendable {
    public var name: String
    /// What the person is to the room, in a word such as `mod`, shown as a badge before the name.
    public var standing: String?
    /// Continues the text after the name.
    public var remark: String?
    /// The colour that the person has chosen for the name, as `0xRRGGBB`. Whoever draws it sees to it that it can be
    /// read.
    public var color: UInt32?

    public init(
      _ name: String, standing: String? = nil, remark: String? = nil, color: UInt32? = nil
    ) {
      self.name = name
      self.standing = standing
      self.remark = remark
      self.color = color
    }
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
    case .text, .marked, .person, .badge, .gauge, .sparkline: 1
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
    case .empty, .text, .marked, .person, .badge, .gauge, .sparkline, .child: self
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
    // A switch over pairs of so many cases takes the compiler too long.
    switch left {
    case .empty:
      if case .empty = right { return true }
    case .text(let text, let emphasis):
      if case .text(let other, let otherEmphasis) = right {
        return emphasis == otherEmphasis && text.hasBytes(of: other)
      }
    case .marked(let text, let marks, let emphasis):
      if case .marked(let other, let otherMarks, let otherEmphasis) = right {
        return emphasis == otherEmphasis && marks == otherMarks && text.hasBytes(of: other)
      }
    case .person(let person):
      if case .person(let other) = right { return person == other }
    case .badge(let text, let emphasis):
      if case .badge(let other, let otherEmphasis) = right {
        return emphasis == otherEmphasis && text.hasBytes(of: other)
      }
    case .gauge(let label, let value, let text, let emphasis):
      if case .gauge(let otherLabel, let otherValue, let otherText, let otherEmphasis) = right {
        return value == otherValue && emphasis == otherEmphasis && label.hasBytes(of: otherLabel)
          && text.hasBytes(of: otherText)
      }
    case .sparkline(let samples):
      if case .sparkline(let other) = right { return samples == other }
    case .row(let nodes):
      if case .row(let others) = right { return nodes == others }
    case .column(let nodes):
      if case .column(let others) = right { return nodes == others }
    case .table(let columns, let rows):
      if case .table(let otherColumns, let otherRows) = right {
        return columns == otherColumns && rows == otherRows
      }
    case .list(let rows, let scrolling):
      if case .list(let otherRows, let otherScrolling) = right {
        return scrolling == otherScrolling && rows == otherRows
      }
    case .panel(let panel, let inner):
      if case .panel(let otherPanel, let otherInner) = right {
        return panel == otherPanel && inner == otherInner
      }
    case .acting(let acts, let inner):
      if case .acting(let otherActs, let otherInner) = right {
        return acts == otherActs && inner == otherInner
      }
    case .child(let view):
      if case .child(let other) = right { return view == other }
    }
    return false
  }
}

extension ViewNode.Person {
  public static func == (left: Self, right: Self) -> Bool {
    left.color == right.color && left.name.hasBytes(of: right.name)
      && left.standing == right.standing && left.remark == right.remark
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
