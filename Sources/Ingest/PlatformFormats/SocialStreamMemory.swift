import JSON

/// Remembers the newest messages of a session of Social Stream Ninja, to find the messages that a deletion names and to
/// recognise repeats.
///
/// At most ``capacity`` messages are kept; the oldest are forgotten first.
struct SocialStreamMemory: Sendable {
  /// The properties by which a message can be found.
  struct Entry: Sendable {
    var platform: String
    /// The number that Social Stream Ninja gave it. Numbers restart with the program.
    var own: String?
    /// The platform's own identifier.
    var native: String?
    /// The author's identifier in the room.
    var user: String
    var name: String?
    var userID: String?
    /// A hash of the text.
    var words: Int
  }

  /// More messages than a room shows.
  static let capacity = 4096

  private var entries: [JSONName: Entry] = [:]
  /// The keys of `entries`, in a ring.
  private var order: [JSONName] = []
  private var oldest = 0
  /// The number of messages added so far.
  private(set) var added = 0

  /// Adds a message and returns its identifier; `nil` if it is a repeat.
  ///
  /// - Parameter name: the preferred identifier. It gets a suffix if a different message has it, since numbers restart.
  mutating func add(_ entry: Entry, named name: String) -> String? {
    let name = name.clipped(to: 240)
    var identifier = name
    var number = 1
    while let known = entries[JSONName(identifier)] {
      guard known.words != entry.words else { return nil }
      number += 1
      identifier = "\(name)/\(number)"
    }
    let key = JSONName(identifier)
    if order.count < Self.capacity {
      order.append(key)
    } else {
      entries[order[oldest]] = nil
      order[oldest] = key
      oldest = (oldest + 1) % Self.capacity
    }
    entries[key] = entry
    added += 1
    return identifier
  }

  /// All messages of a platform; of every platform if it is empty.
  func messages(on platform: String) -> [String] { identifiers { isOf($0, platform) } }

  /// Messages with this number or this identifier of the platform.
  func messages(on platform: String, own: String?, native: String?) -> [String] {
    identifiers { entry in
      guard isOf(entry, platform) else { return false }
      // Some senders give what the platform calls it as the number.
      return isSame(entry.native, native) || isSame(entry.own, own) || isSame(entry.native, own)
    }
  }

  /// Messages by this author.
  func messages(on platform: String, userID: String?, names: [String]) -> [String] {
    identifiers { isOf($0, platform) && isPerson($0, userID, names) }
  }

  /// The identifiers that a person has in the room.
  func users(on platform: String, id: String?, names: [String]) -> [String] {
    var users: Set<JSONName> = []
    for entry in entries.values where isOf(entry, platform) && isPerson(entry, id, names) {
      users.insert(JSONName(entry.user))
    }
    return users.map(\.text)
  }

  private func identifiers(where isMeant: (Entry) -> Bool) -> [String] {
    // In the order in which they came.
    (order[oldest...] + order[..<oldest])
      .filter { entries[$0].map(isMeant) == true }.map(\.text)
  }

  private func isOf(_ entry: Entry, _ platform: String) -> Bool {
    platform.isEmpty || isSame(entry.platform, platform)
  }

  /// Compares identifiers if both sides have one, otherwise names, which are not unique.
  private func isPerson(_ entry: Entry, _ userID: String?, _ names: [String]) -> Bool {
    if let userID, entry.userID != nil { return isSame(entry.userID, userID) }
    return names.contains { isSameName(entry.name, $0) } || isSameName(entry.name, userID)
  }

  private func isSame(_ left: String?, _ right: String?) -> Bool {
    guard let left, let right else { return false }
    return left.utf8.elementsEqual(right.utf8)
  }

  /// Ignores ASCII case: platforms write a name as displayed in one place and in lower case in another.
  private func isSameName(_ left: String?, _ right: String?) -> Bool {
    guard let left, let right, left.utf8.count == right.utf8.count else { return false }
    return zip(left.utf8, right.utf8).allSatisfy { left, right in
      left == right || (left ^ right == 0x20 && (0x61...0x7A).contains(left | 0x20))
    }
  }
}
