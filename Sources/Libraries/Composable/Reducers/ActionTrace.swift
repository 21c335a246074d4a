public import Synchronization

/// The kind of action that a reducer counted last. Written on the store's lane, read by any thread.
@usableFromInline
final class LatestKind: Sendable {
  @usableFromInline let number = Atomic<Int>(-1)

  @usableFromInline init() {}

  @inlinable
  func store(_ kind: Int) { number.store(kind, ordering: .relaxed) }
}

/// The kind of action that a store is reducing or reduced last. Any thread may read it.
///
/// Another thread reads the current kind or a slightly older one, which suffices to name the action
/// that occupies a lane, but not to count actions.
public final class ActionTrace: Sendable {
  private let latest: LatestKind
  private let names: [String]
  /// The traces of children, by the kind of action for which the child runs.
  private let children: [ActionTrace?]

  init(_ counter: ActionCounter, _ children: [ChildCounter]) {
    latest = counter.latest
    names = counter.names
    self.children = counter.names.indices.map { kind in
      children.first { $0.tag == kind && !$0.counter.names.isEmpty }
        .map { ActionTrace($0.counter, $0.children) }
    }
  }

  /// The current kind as a number, or 0 before the first action.
  ///
  /// Contains one byte per level of the tree of reducers, with the root in the lowest byte. Levels
  /// after the eighth, and kinds after the 254th, are not distinguished.
  public var code: UInt64 { code(level: 0) }

  private func code(level: Int) -> UInt64 {
    let kind = latest.number.load(ordering: .relaxed)
    let byte = UInt64(min(kind &+ 1, 255)) << (8 * UInt64(level))
    guard level < 7, let child = child(of: kind) else { return byte }
    return byte | child.code(level: level + 1)
  }

  private func child(of kind: Int) -> ActionTrace? {
    children.indices.contains(kind) ? children[kind] : nil
  }

  /// Returns the name of a kind, such as `chat.messages`; empty before the first action.
  public func name(of code: UInt64) -> String {
    let byte = Int(code & 255)
    guard byte > 0, byte <= names.count else { return "" }
    let name = names[byte - 1]
    guard let child = child(of: byte - 1) else { return name }
    let below = child.name(of: code >> 8)
    return below.isEmpty ? name : "\(name).\(below)"
  }

  /// The name of the current kind.
  public var name: String { name(of: code) }
}
