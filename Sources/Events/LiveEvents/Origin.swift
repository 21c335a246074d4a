import Locking

/// The origin of an event: the platform on which it happened, and the source that sent it.
///
/// Stored as a number of two bytes, so that it neither enlarges events nor needs reference
/// counting. Each process stores the names once, and never frees them. Saved and recorded events
/// contain the names.
public struct Origin: Sendable, Hashable {
  // Inlinable because each event is compared with it.
  @usableFromInline let index: UInt16

  /// The origin of an event whose platform and source are unknown.
  @inlinable public static var none: Origin { Origin(index: 0) }

  @inlinable
  init(index: UInt16) { self.index = index }

  @inlinable public static func == (lhs: Origin, rhs: Origin) -> Bool { lhs.index == rhs.index }

  /// Creates an origin from the name of a platform, such as `twitch`, and the name of a source. An
  /// empty name means that the name is unknown. The result is ``none`` if both are empty, or if the
  /// process already stores ``limit`` origins.
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

  /// The maximum number of origins per process, since untrusted senders choose the names. In a
  /// line, a name has at most ``EventLimits/nameLength`` bytes.
  public static let limit = 4096

  public var platform: Text { names.platform }
  public var source: Text { names.source }

  private var names: Names { Self.known.withLock { $0.names[Int(index)] } }

  private struct Names: Hashable, Sendable {
    var platform: Text
    var source: Text
  }

  private struct Known {
    /// The names by index. The first entry belongs to ``Origin/none``.
    var names = [Names(platform: "", source: "")]
    var origins = [Names(platform: "", source: ""): Origin(index: 0)]
  }

  private static let known = Guarded(Known())
}

extension Origin {
  /// Returns a name for each origin: its platform, its source if the platform is unknown, or both
  /// if several of the origins have this platform.
  package static func distinctNames(of origins: [Origin]) -> [String] {
    let platforms = origins.map(\.platform)
    return zip(origins, platforms).map { origin, platform in
      let source = origin.source
      if platform.isEmpty { return source.isEmpty ? "unnamed" : String(source) }
      let isUnique = platforms.count { $0 == platform } == 1
      return isUnique || source.isEmpty ? String(platform) : "\(platform)/\(source)"
    }
  }
}

extension Origin: CustomStringConvertible {
  public var description: String { "\(platform) by \(source)" }
}

extension Origin: Codable {
  private enum CodingKeys: String, CodingKey { case platform, source }

  /// - Throws: `DecodingError.dataCorrupted` for a name that no line can have. It would be stored
  ///   for the lifetime of the process.
  public init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    func name(_ key: CodingKeys) throws -> Text {
      let name = try values.decodeIfPresent(Text.self, forKey: key) ?? ""
      guard name.byteCount <= EventLimits.nameLength else {
        throw DecodingError.dataCorruptedError(
          forKey: key, in: values, debugDescription: "the name of an origin is too long")
      }
      return name
    }
    self.init(platform: try name(.platform), source: try name(.source))
  }

  /// Omits unknown names.
  public func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    if !platform.isEmpty { try values.encode(platform, forKey: .platform) }
    if !source.isEmpty { try values.encode(source, forKey: .source) }
  }
}
