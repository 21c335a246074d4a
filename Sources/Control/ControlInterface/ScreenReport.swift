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

  public init(root: Int, views: [String: View]) {
    self.root = root
    self.views = views
  }
}

/// A part of what a view looks like; which members it has depends on its kind.
public struct ScreenNode: Codable, Sendable, Equatable {
  public enum Kind: String, Codable, Sendable, CaseIterable {
    /// Nothing.
    case empty
    /// `text` with an `emphasis`.
    case text
    /// `text` as label, and `value` from 0 to 1.
    case gauge
    /// `parts` side by side.
    case row
    /// `parts` one above the other.
    case column
    /// `parts` one above the other, each with an `id` that stays the same while it is on the screen.
    case list
    /// `parts` in a frame with `text` as title.
    case panel
    /// The output of the view with the number `view`.
    case child
  }

  public var kind: Kind
  public var text: String?
  /// normal, strong, faint or warning.
  public var emphasis: String?
  public var value: Double?
  public var id: String?
  public var view: Int?
  public var parts: [ScreenNode]?

  public init(_ kind: Kind, text: String? = nil, parts: [ScreenNode]? = nil) {
    self.kind = kind
    self.text = text
    self.parts = parts
  }
}

/// A reply of `MonitorScreen`.
public struct MonitorScreenReply: Codable, Sendable, Equatable {
  /// Number of the state that this reply leads to.
  public let sequence: UInt64
  /// The whole screen, in the first reply.
  public let screen: ScreenReport?
}
