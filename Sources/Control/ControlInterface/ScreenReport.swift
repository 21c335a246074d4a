/// What the views of a room look like, one entry for each view, so that a patch has the changed ones.
public struct ScreenReport: Codable, Sendable, Equatable {
  public struct View: Codable, Sendable, Equatable {
    /// Such as `ChatView`.
    public var name: String
    public var output: ScreenNode

    public init(name: String, output: ScreenNode) {
      self.name = name
      self.output = output
    }
  }

  /// Number of the view at the top.
  public var root: Int
  /// The views on the screen, by number.
  public var views: [String: View]
  /// Name of the room.
  public var room: String?
  /// Where the room's events went.
  public var counters: Counters?
  /// Actions of the room so far.
  public var actions: Int?
  /// Frames drawn so far.
  public var frames: Int?

  public init(
    root: Int, views: [String: View], room: String? = nil, counters: Counters? = nil,
    actions: Int? = nil, frames: Int? = nil
  ) {
    self.root = root
    self.views = views
    self.room = room
    self.counters = counters
    self.actions = actions
    self.frames = frames
  }
}

/// A part of what a view looks like; which members it has depends on its kind.
public struct ScreenNode: Codable, Sendable, Equatable {
  public var kind: ScreenNodeKind
  public var text: String?
  public var emphasis: ScreenEmphasis?
  public var value: Double?
  public var detail: String?
  public var samples: [Double]?
  public var id: String?
  public var scrolling: String?
  public var view: Int?
  public var panel: ScreenPanel?
  public var columns: [ScreenColumn]?
  public var parts: [ScreenNode]?

  public init(
    _ kind: ScreenNodeKind, text: String? = nil, emphasis: ScreenEmphasis? = nil,
    value: Double? = nil, detail: String? = nil, samples: [Double]? = nil, id: String? = nil,
    scrolling: String? = nil, view: Int? = nil, panel: ScreenPanel? = nil,
    columns: [ScreenColumn]? = nil, parts: [ScreenNode]? = nil
  ) {
    self.kind = kind
    self.text = text
    self.emphasis = emphasis
    self.value = value
    self.detail = detail
    self.samples = samples
    self.id = id
    self.scrolling = scrolling
    self.view = view
    self.panel = panel
    self.columns = columns
    self.parts = parts
  }
}

/// The kinds of parts of a screen.
public enum ScreenNodeKind: String, Codable, Sendable, CaseIterable {
  /// Nothing.
  case empty
  /// `text` with an `emphasis`.
  case text
  /// `text` as label, `value` from 0 to 1, and in `detail` the same with its unit.
  case gauge
  /// `parts` side by side.
  case row
  /// `parts` one above the other.
  case column
  /// `parts` one above the other, each with an `id` that stays the same while it is on the screen.
  case list
  /// `parts` in a frame that `panel` describes, with `text` as title.
  case panel
  /// The output of the view with the number `view`.
  case child
  /// `text` that stands out.
  case badge
  /// A figure over time in `samples`.
  case sparkline
  /// `parts` are rows, whose `parts` are the cells of `columns`.
  case table
}

/// What a text means.
public enum ScreenEmphasis: String, Codable, Sendable, CaseIterable {
  case normal, strong, faint, good, warning, bad, active, person
}

/// The frame around a part of a screen.
public struct ScreenPanel: Codable, Sendable, Equatable {
  /// Names the part for programs, such as `chat`.
  public var name: String
  /// Panels with a lower number stay longer on a small screen, and come first.
  public var priority: Int
  /// Fewer rows than this are not worth showing.
  public var minimumRows: Int
  /// More rows than this are of no use; nil if it can use all there are.
  public var usefulRows: Int?

  public init(name: String, priority: Int, minimumRows: Int, usefulRows: Int? = nil) {
    self.name = name
    self.priority = priority
    self.minimumRows = minimumRows
    self.usefulRows = usefulRows
  }
}

/// A column of a table.
public struct ScreenColumn: Codable, Sendable, Equatable {
  /// Empty for a column without a heading.
  public var title: String
  public var alignment: ScreenAlignment
  /// True if it may be left out where there is little space.
  public var optional: Bool?

  public init(title: String, alignment: ScreenAlignment, optional: Bool? = nil) {
    self.title = title
    self.alignment = alignment
    self.optional = optional
  }
}

public enum ScreenAlignment: String, Codable, Sendable, CaseIterable { case left, right }
