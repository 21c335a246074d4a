import JSON

/// The most recent messages of a Social Stream Ninja session, to find the messages that a deletion
/// names and to recognise duplicates. Removes the oldest message when ``capacity`` is exceeded.
struct SocialStreamMemory: Sendable {
  /// The properties by which a message can be found.
  struct Entry: Sendable {
    var platform: String
    /// The number assigned by Social Stream Ninja. When that program restarts, the numbers begin
    /// again.
    var own: String?
    /// The platform's identifier of the message.
    var native: String?
    /// The author's identifier in the room.
    var user: String
    var name: String?
    var userID: String?
    /// A hash of the text.
    var words: Int
  }

  /// The maximum number of messages, which exceeds the number that a room shows.
  static let capacity = 4096

  private var entries: [JSONName: Entry] = [:]
  /// The keys of `entries`, as a ring buffer.
  private var order: [JSONName] = []
  private var oldest = 0
  /// The number of messages added so far.
  private(set) var added = 0

  /// Adds a message and returns its identifier, or `nil` if the message is a duplicate. The
  /// identifier is `name`. If a different message already has that name, which happens because
  /// numbers restart, a suffix is added.
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

  /// Returns the messages of a platform, or of all platforms if the name is empty.
  func messages(on platform: String) -> [String] { identifiers { isOf($0, platform) } }

  /// Returns the messages with this number, or with this identifier from the platform.
  func messages(on platform: String, own: String?, native: String?) -> [String] {
    identifiers { entry in
      guard isOf(entry, platform) else { return false }
      // Some senders give the platform's identifier as the number.
      return isSame(entry.native, native) || isSame(entry.own, own) || isSame(entry.native, own)
    }
  }

  /// Returns the messages of the author with this identifier or one of these names.
  func messages(on platform: String, userID: String?, names: [String]) -> [String] {
    identifiers { isOf($0, platform) && isPerson($0, userID, names) }
  }

  /// Returns the identifiers that a person has in the room.
  func users(on platform: String, id: String?, names: [String]) -> [String] {
    var users: Set<JSONName> = []
    for entry in entries.values where isOf(entry, platform) && isPerson(entry, id, names) {
      users.insert(JSONName(entry.user))
    }
    return users.map(\.text)
  }

  private func identifiers(where isMeant: (Entry) -> Bool) -> [String] {
    // Searches the messages in their order of arrival.
    (order[oldest...] + order[..<oldest])
      .filter { entries[$0].map(isMeant) == true }.map(\.text)
  }

  private func isOf(_ entry: Entry, _ platform: String) -> Bool {
    platform.isEmpty || isSame(entry.platform, platform)
  }

  /// Compares the identifiers if both are known. Otherwise compares the names, which are not
  /// unique.
  private func isPerson(_ entry: Entry, _ userID: String?, _ names: [String]) -> Bool {
    if let userID, entry.userID != nil { return isSame(entry.userID, userID) }
    return names.contains { isSameName(entry.name, $0) } || isSameName(entry.name, userID)
  }

  private func isSame(_ left: String?, _ right: String?) -> Bool {
    guard let left, let right else { return false }
    return left.utf8.elementsEqual(right.utf8)
  }

  /// Compares names, ignoring the case of ASCII letters. Some platforms write a name both as
  /// displayed and in lower case.
  private func isSameName(_ left: String?, _ right: String?) -> Bool {
    guard let left, let right, left.utf8.count == right.utf8.count else { return false }
    return zip(left.utf8, right.utf8).allSatisfy { left, right in
      left == right || (left ^ right == 0x20 && (0x61...0x7A).contains(left | 0x20))
    }
  }
}
