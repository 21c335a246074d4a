extension Log: Equatable where Element: Equatable {
  /// Returns whether capacity, sequence numbers and elements are equal, regardless of where the
  /// rings start.
  @inlinable public static func == (left: Log, right: Log) -> Bool {
    left.capacity == right.capacity && left.end == right.end && left.elementsEqual(right)
  }
}

extension Log: Hashable where Element: Hashable {
  @inlinable public func hash(into hasher: inout Hasher) {
    hasher.combine(capacity)
    hasher.combine(end)
    for element in self { hasher.combine(element) }
  }
}

@usableFromInline enum LogCodingKeys: String, CodingKey {
  case capacity, endSequence, elements
}

extension Log: Encodable where Element: Encodable {
  /// Encodes `capacity`, `endSequence` and `elements`, oldest first.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: LogCodingKeys.self)
    try container.encode(capacity, forKey: .capacity)
    try container.encode(end, forKey: .endSequence)
    try container.encode(Array(self), forKey: .elements)
  }
}

extension Log: Decodable where Element: Decodable {
  /// - Throws: `DecodingError.dataCorrupted` if the capacity is not greater than zero, or if there
  ///   are more elements than the capacity or the sequence numbers allow.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: LogCodingKeys.self)
    let capacity = try container.decode(Int.self, forKey: .capacity)
    let end = try container.decode(SequenceNumber.self, forKey: .endSequence)
    let elements = try container.decode([Element].self, forKey: .elements)
    guard capacity > 0 else {
      throw DecodingError.dataCorruptedError(
        forKey: .capacity, in: container,
        debugDescription: "the capacity must be greater than zero")
    }
    guard elements.count <= capacity, SequenceNumber(elements.count) <= end else {
      throw DecodingError.dataCorruptedError(
        forKey: .elements, in: container,
        debugDescription: "more elements than the capacity or endSequence allows")
    }
    self.init(capacity: capacity)
    self.end = end - SequenceNumber(elements.count)
    append(contentsOf: elements)
  }
}

extension Log: CustomReflectable {
  /// A mirror of the elements, so that dumps and differences show nothing else.
  public var customMirror: Mirror {
    Mirror(self, unlabeledChildren: self, displayStyle: .collection)
  }
}
