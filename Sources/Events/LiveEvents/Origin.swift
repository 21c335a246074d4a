import Synchronization

/// Where an event comes from: the platform on which it happened, and the source that brought it.
///
/// A number of two bytes, so that an event is no larger and no more is to be counted for it; its names are kept once
/// per process, for as long as that lives. What is saved or written down has the names.
public struct Origin: Sendable, Hashable {
  // Inlinable, because each event is compared with it.
  @usableFromInline let index: UInt16

  /// That of an event that does not say.
  @inlinable public static var none: Origin { Origin(index: 0) }

  @inlinable
  init(index: UInt16) { self.index = index }

  @inlinable public static func == (lhs: Origin, rhs: Origin) -> Bool { lhs.index == rhs.index }

  /// - Parameters:
  ///   - platform: such as `twitch`; empty if that is not known.
  ///   - source: the name of what brought the event; empty if that is not known.
  ///
  /// Equals ``none`` without both names, and if the process knows ``limit`` others already.
  public init(platform: Text, source: Text = "") {
    let names = Names(platform: platform, source: source)
    self = Self.known.withLock { known in
      if let origin = known.origins[names] { return origin }
      guard known.names.count <= Self.limit else { return .none }
      let origin = Origin(index: UInt16(known.names.count))
      let owned = Names(platform: platform.owned(), source: source.owned())
      known.names.append(owned)
      known.origins[owned] = origin
      return origin
    }
  }

  /// How many origins a process knows. Senders choose the names, so that they must not become ever more; a name
  /// has at most ``EventLimits/nameLength`` bytes on a line.
  public static let limit = 4096

  public var platform: Text { names.platform }
  public var source: Text { names.source }

  private var names: Names { Self.known.withLock { $0.names[Int(index)] } }

  private struct Names: Hashable, Sendable {
    var platform: Text
    var source: Text
  }

  private struct Known {
    /// By their index; the first are those of ``Origin/none``.
    var names = [Names(platform: "", source: "")]
    var origins = [Names(platform: "", source: ""): Origin(index: 0)]
  }

  private static let known = Mutex(Known())
}

extension Origin: CustomStringConvertible {
  public var description: String { "\(platform) by \(source)" }
}

extension Origin: Codable {
  private enum CodingKeys: String, CodingKey { case platform, source }

  public init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      platform: try values.decodeIfPresent(Text.self, forKey: .platform) ?? "",
      source: try values.decodeIfPresent(Text.self, forKey: .source) ?? "")
  }

  /// Leaves out what is not known.
  public func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    if !platform.isEmpty { try values.encode(platform, forKey: .platform) }
    if !source.isEmpty { try values.encode(source, forKey: .source) }
  }
}
