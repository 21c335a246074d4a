package import LiveEvents

/// The people who wrote, in order to count them exactly.
///
/// Identifiers of up to 15 bytes, which is most of them, are kept in the 16 bytes of an integer;
/// longer ones own their text. Grows with the number of people: some 32 bytes for each.
package struct ChatterSet: Equatable, Sendable {
  private var short: Set<UInt128> = []
  private var long: Set<Text> = []

  package init() {}

  package var count: Int { short.count + long.count }

  /// Adds a person. O(1); copies nothing for one who is known.
  package mutating func insert(_ userID: Text) {
    let key = userID.withUTF8(Self.pack)
    if let key {
      short.insert(key)
    } else if !long.contains(userID) {
      long.insert(userID.owned())
    }
  }

  /// The bytes and, in the last place, their number, so that no two texts share a key.
  private static func pack(_ bytes: UnsafeBufferPointer<UInt8>) -> UInt128? {
    guard bytes.count < 16 else { return nil }
    var key: UInt128 = 0
    withUnsafeMutableBytes(of: &key) { target in
      target.copyMemory(from: UnsafeRawBufferPointer(bytes))
      target[15] = UInt8(bytes.count)
    }
    return key
  }
}
