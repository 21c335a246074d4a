import Compression
import Foundation
import LiveEvents
import Testing
import WireFormats

@Suite struct BundledRecordingTests {
  static let slab: ByteSlab = {
    let url = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../config/recordings/chat-burst.irc.gz")
    var bytes: [UInt8] = []
    do {
      var reader = try GzipReader()
      try Data(contentsOf: url).withUnsafeBytes { input in
        try reader.read(input) { bytes.append(contentsOf: $0) }
      }
      try reader.finish()
    } catch {
      Issue.record("\(url.path()): \(error)")
    }
    return ByteSlab(bytes)
  }()

  @Test
  func `every line of the bundled recording is an event, and the totals by kind are as expected`() {
    var decoder = LineDecoder()
    var counts: [String: Int] = [:]
    var chatters: Set<String> = []
    var rooms: Set<String> = []
    var seconds: [Int64: Int] = [:]
    var offset = 0
    while let line = Self.slab.nextLine(at: &offset) {
      guard case .event(let event, let room) = decoder.decode(Self.slab, line: line, arrival: 0)
      else {
        Issue.record("line before \(offset) is not an event")
        continue
      }
      rooms.insert(decoder.name(of: room).description)
      counts[event.payload.nativeType, default: 0] += 1
      if case .chat(.message(let message)) = event.payload {
        chatters.insert(String(message.userID))
        seconds[event.timestamp / 1000, default: 0] += 1
        #expect(!message.id.isEmpty && !message.userName.isEmpty)
      }
    }
    #expect(offset == Self.slab.count)
    #expect(counts == ["chat.message": 4933, "chat.timeout": 58, "chat.notice": 9])
    #expect(chatters.count == 1208)
    #expect(rooms == ["examplehost"])
    #expect(seconds.values.max() == 40)
  }

  @Test func `the bundled recording has the same contents when encoded as native lines`() {
    var decoder = LineDecoder()
    var offset = 0
    while let line = Self.slab.nextLine(at: &offset) {
      guard case .event(let event, _) = decoder.decode(Self.slab, line: line, arrival: 0) else {
        continue
      }
      var native: [UInt8] = []
      NativeEncoder.append(event, room: RoomName("examplehost"), to: &native)
      #expect(
        decode(native.dropLast()) == .event(event.payload, at: event.timestamp, room: "examplehost")
      )
    }
  }
}
