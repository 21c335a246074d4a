public import Synchronization

/// The kind of the action that a reducer counted last. Written on its lane, read by any thread.
@usableFromInline
final class LatestKind: Sendable {
  @usableFromInline let number = Atomic<Int>(-1)

  @usableFromInline init() {}

  @inlinable
  func note(_ kind: Int) { number.store(kind, ordering: .relaxed) }
}

/// Says which kind of action a store is reducing, or reduced last; readable from any thread.
///
/// Another thread reads the present kind or the one of a moment ago: enough to name what occupies a
/// lane, not enough to count.
public final class ActionTrace: Sendable {
  private let latest: LatestKind
  private let names: [String]
  /// By the kind of action for which the child runs.
  private let children: [ActionTrace?]

  init(_ counter: ActionCounter, _ children: [ChildCounter]) {
    latest = counter.latest
    names = counter.names
    self.children = counter.names.indices.map { kind in
      children.first { $0.tag == kind && !$0.counter.names.isEmpty }
        .map { ActionTrace($0.counter, $0.children) }
    }
  }

  /// The present kind as a number; 0 before the first action.
  ///
  /// One byte per level of the tree of reducers, the root's lowest. Levels below the eighth, and
  /// kinds beyond the 254th, are not distinguished.
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

  /// The name of a kind, such as `chat.messages`; empty if there was no action yet.
  public func name(of code: UInt64) -> String {
    let byte = Int(code & 255)
    guard byte > 0, byte <= names.count else { return "" }
    let name = names[byte - 1]
    guard let child = child(of: byte - 1) else { return name }
    let below = child.name(of: code >> 8)
    return below.isEmpty ? name : "\(name).\(below)"
  }

  /// The name of the present kind.
  public var name: String { name(of: code) }
}
