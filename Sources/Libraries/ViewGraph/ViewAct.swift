/// A command that users can give on a node, for example with a button. The renderer of the node
/// offers the command and sends the request that the command describes.
public struct ViewAct: Hashable, Sendable {
  /// The input that the user must give, with the name of the argument.
  public enum Input: Hashable, Sendable {
    /// A level from 0 to 1, for example of the gauge to which the command belongs.
    case level(String)
    /// A line of text.
    case text(String)
    /// The identity of a row of the list to which the command belongs.
    case row(String)
    /// The numeric identity of a row, passed as a number.
    case numberedRow(String)
  }

  public enum Value: Hashable, Sendable {
    case text(String)
    case number(Int)
    case flag(Bool)
    /// An object whose members are texts.
    case texts([String: String])
  }

  /// The label: one or two words.
  public var label: String
  /// The name by which the receiver of the request identifies the command.
  public var name: String
  /// The arguments that are already known, by name.
  public var arguments: [String: Value]
  /// The required input, or `nil` if none is required.
  public var input: Input?
  /// The argument for a line of text that the user must give in addition to ``input``, or `nil` if
  /// none is required.
  public var text: String?
  /// Whether the command cannot be undone, so that the user must confirm it.
  public var confirms: Bool
  /// The groups of rows (``ViewNode/ListRow/group``) to which a command on a row applies, or `nil`
  /// for all rows of the list.
  public var groups: [String]?

  public init(
    _ label: String, _ name: String, _ arguments: [String: Value] = [:], input: Input? = nil,
    text: String? = nil, confirms: Bool = false, groups: [String]? = nil
  ) {
    self.label = label
    self.name = name
    self.arguments = arguments
    self.input = input
    self.text = text
    self.confirms = confirms
    self.groups = groups
  }
}

/// Arguments may come from untrusted users, so they are compared as bytes; see ``ViewNode``.
extension ViewAct.Value {
  public static func == (left: Self, right: Self) -> Bool {
    switch (left, right) {
    case (.text(let left), .text(let right)): left.hasBytes(of: right)
    case (.number(let left), .number(let right)): left == right
    case (.flag(let left), .flag(let right)): left == right
    case (.texts(let left), .texts(let right)):
      left.count == right.count
        && left.allSatisfy { name, text in right[name].map(text.hasBytes) ?? false }
    case (.text, _), (.number, _), (.flag, _), (.texts, _): false
    }
  }
}

extension ViewNode {
  /// Returns this node with commands that users can give on it.
  public func acting(_ acts: ViewAct...) -> ViewNode { .acting(acts, self) }
}
