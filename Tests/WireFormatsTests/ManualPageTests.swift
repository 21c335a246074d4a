import Foundation
import LiveEvents
import TestSupport
import Testing
import WireFormats

/// Compares the entries of livehost-events(5) with encoded lines.
@Suite struct EventManualPageTests {
  /// An entry: the members of a type, and its optional members.
  private struct Entry: Equatable {
    var members: Set<String> = []
    var optional: Set<String> = []
  }

  /// Reads lines such as `\fBchat.timeout\fR \fIuser\fR, \fIseconds\fR?`, each after a `.TP`.
  private static func entries() throws -> [String: Entry] {
    let page = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../../packaging/man/livehost-events.5.in").standardized
    let lines = try String(contentsOf: page, encoding: .utf8).components(separatedBy: "\n")
    var entries: [String: Entry] = [:]
    for (before, line) in zip(lines, lines.dropFirst()) where before == ".TP" {
      guard let type = line.wholeMatch(of: /\\fB([a-zA-Z.]+)\\fR(.*)/) else { continue }
      var entry = Entry()
      for member in type.2.matches(of: /\\fI([a-zA-Z]+)\\fR(\?)?/) {
        entry.members.insert(String(member.1))
        if member.2 != nil { entry.optional.insert(String(member.1)) }
      }
      entries[String(type.1)] = entry
    }
    return entries
  }

  @Test
  func `livehost-events(5) lists every event type with its members and marks optional members`()
    throws
  {
    var generator = EventGenerator(random: SplitMix64(seed: 5))
    var written: [String: [Set<String>]] = [:]
    for _ in 0..<20_000 {
      var line: [UInt8] = []
      NativeEncoder.append(generator.event(), room: RoomName("r"), to: &line)
      let object = try #require(
        JSONSerialization.jsonObject(with: Data(line)) as? [String: Any])
      let type = try #require(object["type"] as? String)
      written[type, default: []].append(Set(object.keys).subtracting(["type", "room", "ts"]))
    }
    let entries = try Self.entries()
    #expect(Set(entries.keys) == Set(written.keys))
    for (type, lines) in written {
      let entry = try #require(entries[type])
      // All events may have an origin, which the page describes once.
      let origin: Set = ["platform", "source"]
      let all = lines.reduce(into: Set()) { $0.formUnion($1) }
        .subtracting(origin.subtracting(entry.members))
      let always = lines.reduce(into: all) { $0.formIntersection($1) }
      #expect(entry.members == all, "\(type)")
      #expect(all.subtracting(always).isSubset(of: entry.optional), "\(type)")
    }
  }
}
