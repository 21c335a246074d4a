/// Something that people can do with what a node shows. Whoever draws the node offers it, and asks for what it says to
/// be done.
public struct ViewAct: Hashable, Sendable {
  /// What people have to give, and the name of the argument that it becomes.
  public enum Input: Hashable, Sendable {
    /// A level from 0 to 1, such as that of the gauge which has the act.
    case level(String)
    /// A line of text.
    case text(String)
    /// A row of the list that has the act: its identity.
    case row(String)
    /// The same, where the identity is a number, and the argument, too.
    case numberedRow(String)
  }

  public enum Value: Hashable, Sendable {
    case text(String)
    case number(Int)
    case flag(Bool)
  }

  /// What it does, in a word or two.
  public var label: String
  /// Names it for whoever carries it out.
  public var name: String
  /// What is known already, by the names of the arguments.
  public var arguments: [String: Value]
  /// `nil` if nothing has to be given.
  public var input: Input?

  public init(
    _ label: String, _ name: String, _ arguments: [String: Value] = [:], input: Input? = nil
  ) {
    self.label = label
    self.name = name
    self.arguments = arguments
    self.input = input
  }
}

/// Arguments may come from strangers; see ``ViewNode``.
extension ViewAct.Value {
  public static func == (left: Self, right: Self) -> Bool {
    switch (left, right) {
    case (.text(let left), .text(let right)): left.hasBytes(of: right)
    case (.number(let left), .number(let right)): left == right
    case (.flag(let left), .flag(let right)): left == right
    case (.text, _), (.number, _), (.flag, _): false
    }
  }
}

extension ViewNode {
  /// This node, with which people can do something.
  public func acting(_ acts: ViewAct...) -> ViewNode { .acting(acts, self) }
}
