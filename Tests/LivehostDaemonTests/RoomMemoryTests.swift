import CAllocationCounter
import ControlInterface
import HostFeature
import LiveEvents
import LivehostDaemon
import Rooms
import Testing
import WireFormats

/// No sender can make a room use more memory than its documented maximum.
@Suite(
  .serialized, .timeLimit(.minutes(3)),
  .enabled(if: allocated_bytes() > 0, "the allocator of this build cannot be asked"))
struct RoomMemoryTests {
  /// Returns a distinct name of the maximum length.
  private static func name(_ number: Int) -> String {
    let digits = "\(number)-"
    return digits + String(repeating: "n", count: EventLimits.nameLength - digits.utf8.count)
  }

  private static func person(_ number: Int) -> String {
    #""user":{"id":"\#(name(number))","name":"\#(name(number))"}"#
  }

  /// Sends lines as they arrive from a socket, as slices of one shared block.
  private static func send(_ lines: [String], to studio: Studio) async throws {
    var decoder = LineDecoder()
    var events: [LiveEvent] = []
    for start in stride(from: 0, to: lines.count, by: 100) {
      let block = lines[start..<min(start + 100, lines.count)]
      let slab = ByteSlab(Array(block.joined(separator: "\n").utf8))
      var offset = 0
      for line in block {
        let slice = ByteSlab.Slice(offset: offset, count: line.utf8.count)
        offset += line.utf8.count + 1
        guard case .event(let event, _) = decoder.decode(slab, line: slice, arrival: 1) else {
          Issue.record("\(line.prefix(300))")
          continue
        }
        events.append(event)
      }
    }
    // Posted together, because each delivery is applied with the next frame.
    _ = await studio.send(events, to: .main, clock: .arrival)
  }

  /// Sends more of everything than a room stores, each item of the maximum size.
  private static func fill(_ studio: Studio) async throws {
    let names = (0..<32).map { #""\#(name($0))""# }.joined(separator: ",")
    let text = String(repeating: "x", count: 60_000)
    let answer = #","replyTo":"m0","text":"\#(text)"}"#
    let note = String(repeating: "n", count: PersonNote.textLength)
    try await send(
      [
        #"{"type":"stream","state":"waiting"}"#,
        #"{"type":"title","title":"\#(String(repeating: "t", count: 1024))"}"#,
        #"{"type":"host.highlight","names":[\#(names)]}"#,
        #"{"type":"chat.message","id":"m0",\#(person(0)),"text":"x"}"#,
        #"{"type":"host.filter","words":"x"}"#,
        #"{"type":"host.thread","message":"m0"}"#,
      ], to: studio)
    try await send(
      (0..<100_000).map {
        #"{"type":"chat.message","id":"\#($0)","user":{"id":"u\#($0)","name":"n"},"text":"x"}"#
      }, to: studio)
    for number in 0..<10_000 where number.isMultiple(of: 500) {
      try await send(
        (number..<number + 500).flatMap {
          [
            #"{"type":"waiting.join",\#(person($0))}"#,
            #"{"type":"chat.timeout",\#(person(1_000_000 + $0))}"#,
            #"{"type":"chat.delete","id":"\#(name($0))"}"#,
            #"{"type":"chat.notice","kind":"giftBomb","count":2,"group":"\#(name($0))",\#(person($0))}"#,
          ]
        }, to: studio)
    }
    try await send(
      (0..<1_000).flatMap {
        [
          #"{"type":"slider","control":"\#(name($0))","phase":"begin","value":0.5}"#,
          #"{"type":"tap","control":"\#(name($0))","on":true}"#,
          #"{"type":"meter","input":"\#(name($0))","levels":[\#(repeatElement("0.5", count: 64).joined(separator: ","))]}"#,
          #"{"type":"source.state","source":"\#(name($0))","state":"live","platform":"\#(name($0))","reason":"\#(name($0))"}"#,
          #"{"type":"goal","title":"\#(name($0))","count":1,"target":2}"#,
          #"{"type":"host.note","user":"\#(name($0))","platform":"\#(name($0))","text":"\#(note)"}"#,
          #"{"type":"redemption","title":"\#(name($0))",\#(person($0)),"text":"\#(text)"}"#,
        ]
      }, to: studio)
    try await send(
      (0..<40).flatMap { number -> [String] in
        let origin = #""platform":"\#(name(number))","source":"\#(name(number))""#
        return [
          #"{"type":"title","title":"\#(String(repeating: "t", count: 1024))",\#(origin)}"#,
          #"{"type":"category","title":"\#(name(number))",\#(origin)}"#,
          #"{"type":"viewers","count":1,\#(origin)}"#,
          #"{"type":"stats","bitrateKbps":1,\#(origin)}"#,
        ]
      }, to: studio)
    let options = (0..<32).map { #""\#(name($0))""# }.joined(separator: ",")
    try await send(
      [
        #"{"type":"poll.begin","id":"\#(name(0))","title":"\#(name(0))","options":[\#(options)]}"#,
        #"{"type":"prediction","id":"\#(name(0))","title":"\#(name(0))","state":"open","options":[\#(options)]}"#,
      ], to: studio)
    try await send([#"{"type":"host.person",\#(person(0))}"#], to: studio)
    // The largest messages last, so that the room stores them.
    for number in 0..<6 {
      try await send(
        (0..<100).map {
          #"{"type":"chat.message","id":"m\#(number)-\#($0)",\#(person($0))\#(answer)"#
        },
        to: studio)
    }
  }

  @Test(arguments: [false, true])
  func `a room that receives more than it can store uses no more than its memory budget`(
    analysesChat: Bool
  ) async throws {
    var settings = RoomSettings()
    settings.analysesChat = analysesChat
    let studio = try Studio(settings: settings)
    // The process allocates some memory once: tables, caches and pools.
    let warm = try #require(RoomName("warm"))
    _ = try studio.directory.open(warm)
    _ = await studio.send(traffic(2_000), to: warm, clock: .arrival)
    await studio.settle()
    let before = Int(allocated_bytes())
    _ = try studio.directory.open(.main)
    try await Self.fill(studio)
    // Snapshots that are being written have a separate limit.
    await studio.settle()
    let growth = Int(allocated_bytes()) - before
    func stated(rooms: Int) -> Int {
      var configuration = Configuration()
      configuration.rooms = settings
      configuration.rooms.maximumRooms = rooms
      return configuration.memory
    }
    let budget = stated(rooms: 2) - stated(rooms: 1)
    #expect(growth <= budget, "\(growth) of \(budget) bytes")
    let features = try #require(await studio.lane.report(.main)).features
    #expect(features.chat?.chattersAtLeast == true)
    #expect(features.chat?.leftOut ?? 0 > 0)
    #expect(features.waitingRoom?.waitingAtLeast == true)
    try await studio.end()
  }
}
