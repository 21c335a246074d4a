/// The output of a view: a small tree that is drawn by a terminal, a web page and subscribers.
///
/// A node describes the content and its meaning, but not positions or colours, except for the
/// colours that users have chosen for their names. Texts may come from untrusted users: the
/// renderer must make them harmless.
public indirect enum ViewNode: Hashable, Sendable {
  case empty
  case text(String, Emphasis = .normal)
  /// A text with highlighted ranges, given in Unicode scalars, in order and within the text.
  case marked(String, [Range<Int>], Emphasis = .normal)
  /// The name of a user with additional information. Use a text for a name alone.
  case person(Person)
  /// A short highlighted word, such as `LIVE`.
  case badge(String, Emphasis)
  /// A level from 0 to 1, and the level as text with its unit.
  case gauge(label: String, value: Double, text: String, Emphasis = .normal)
  /// A value over time, oldest sample first. The axis need not start at zero.
  case sparkline([Float])
  /// Nodes side by side; nodes that do not fit are moved below.
  case row([ViewNode])
  /// Nodes one below another.
  case column([ViewNode])
  /// A table. Each row has one cell per column.
  case table([TableColumn], [[ViewNode]])
  /// Elements with a stable identity, one per row.
  ///
  /// - Parameter scrolling: The name of the history of which the rows are the newest part; `nil` if
  ///   the rows are complete. While the name stays the same, earlier rows can be kept and scrolled
  ///   to by their identity.
  case list([ListRow], scrolling: String? = nil)
  case panel(Panel, ViewNode)
  /// A node on which users can give commands; see ``acting(_:)``.
  case acting([ViewAct], ViewNode)
  /// The output of another view, which is evaluated separately.
  case child(ViewID)

  /// The meaning of a text, which determines its colour.
  public enum Emphasis: String, Hashable, Sendable, CaseIterable {
    case normal, strong, faint
    /// A normal, desired condition.
    case good
    /// A condition that needs attention.
    case warning
    /// An error.
    case bad
    /// An ongoing activity that is visible to others, such as a live stream or a recording.
    case active
    /// The name of a user.
    case person
  }

  /// A user, shown as one element.
  public struct Person: Hashable, Sendable {
    public var name: String
    /// The role of the user in the room, as a word such as `mod`. Shown as a badge before the name.
    public var standing: String?
    /// The text after the name.
    public var remark: String?
    /// The colour that the user has chosen for the name, as `0xRRGGBB`. The renderer must make the
    /// colour readable.
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
    /// The group of the row, which selects the commands that apply to it; see ``ViewAct/groups``.
    public var group: String?

    public init(id: String, group: String? = nil, _ node: ViewNode) {
      self.id = id
      self.group = group
      self.node = node
    }
  }

  public struct TableColumn: Hashable, Sendable {
    public enum Alignment: String, Hashable, Sendable, CaseIterable { case left, right }

    /// The heading, or an empty string for none.
    public var title: String
    public var alignment: Alignment
    /// Whether the column may be omitted if there is little space.
    public var isOptional: Bool

    public init(_ title: String, _ alignment: Alignment = .left, isOptional: Bool = false) {
      self.title = title
      self.alignment = alignment
      self.isOptional = isOptional
    }
  }

  /// A titled frame around a part of the screen. Numbers of rows exclude the frame.
  public struct Panel: Hashable, Sendable {
    /// The stable name of the part for programs, such as `chat`.
    public var name: String
    public var title: String
    /// The priority. Panels with a lower number are shown first, and kept longer on a small screen.
    public var priority: Int
    /// The minimum number of rows for which the panel is worth showing.
    public var minimumRows: Int
    /// The maximum number of rows that the panel can use; `nil` for no limit.
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
  /// The number of elements to lay out and draw. Texts, badges, gauges, sparklines and frames count
  /// as one element each. Each row of a list counts as one element in addition to its content, and
  /// each row of a table as one element. Nodes that only arrange other nodes do not count, nor do
  /// child views.
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

  func mapChildren(_ change: (ViewNode) -> ViewNode) -> ViewNode {
    switch self {
    case .empty, .text, .marked, .person, .badge, .gauge, .sparkline, .child: self
    case .row(let nodes): .row(nodes.map(change))
    case .column(let nodes): .column(nodes.map(change))
    case .table(let columns, let rows): .table(columns, rows.map { $0.map(change) })
    case .list(let rows, let scrolling):
      .list(rows.map { ListRow(id: $0.id, group: $0.group, change($0.node)) }, scrolling: scrolling)
    case .panel(let panel, let inner): .panel(panel, change(inner))
    case .acting(let acts, let inner): .acting(acts, change(inner))
    }
  }

  /// Returns this node with rows inserted at the start of its scrolling list, if any.
  func prepending(_ earlier: [ListRow]) -> ViewNode {
    if earlier.isEmpty { return self }
    if case .list(let rows, let scrolling?) = self {
      return .list(earlier + rows, scrolling: scrolling)
    }
    return mapChildren { $0.prepending(earlier) }
  }
}

/// Compares texts by their bytes, because they may come from untrusted users. Comparison by
/// canonical equivalence can take time that grows with the square of the length.
extension ViewNode {
  public static func == (left: ViewNode, right: ViewNode) -> Bool {
    // A switch over pairs of cases takes too long to compile.
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
    left.id.hasBytes(of: right.id) && left.node == right.node && left.hasGroup(of: right)
  }
}

extension ViewNode.ListRow {
  private func hasGroup(of other: Self) -> Bool {
    guard let group, let otherGroup = other.group else { return group == nil && other.group == nil }
    return group.hasBytes(of: otherGroup)
  }
}

extension String {
  func hasBytes(of other: String) -> Bool {
    utf8.count == other.utf8.count && utf8.elementsEqual(other.utf8)
  }
}
