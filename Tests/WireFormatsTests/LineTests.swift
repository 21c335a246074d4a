import LiveEvents
import Testing
import WireFormats

@Suite struct AnyLineTests {
  @Test(arguments: ["", " ", "\t \t", "\u{FEFF}"])
  func `a line of white space is blank`(line: String) {
    #expect(decode(line) == Outcome(isBlank: true))
  }

  @Test(arguments: [
    "hello", "\0\0\0\0", "\0{}", "123", "\"type\"", "<a/>", "privmsg #x :y",
    "PINGS", "PRIVMSGPRIVMSGPRIVMSG", "x{}",
  ])
  func `a line of an unknown format is rejected`(line: String) {
    #expect(decode(line) == .rejected(.unknownFormat))
  }

  @Test func `a line of an unknown format that is not UTF-8 is rejected for its encoding`() {
    #expect(decode([0xFF, 0xFE, 0x41]) == .rejected(.invalidUTF8))
  }

  @Test func `white space and a byte-order mark before a line are ignored`() {
    #expect(decode("\u{FEFF}{\"type\":\"chat.clear\"}") == .event(.chat(.clear)))
    #expect(decode(" \t{\"type\":\"title\",\"title\":\"a\"}") == .event(.header(.title("a"))))
    #expect(
      decode(" @ban-duration=1;target-user-id=2 :t CLEARCHAT #c :bob")
        == .event(
          .chat(.timeout(ChatTimeout(user: Person(id: "2", name: "bob"), seconds: 1))), room: "c"))
  }

  @Test func `a line may have at most 64 KiB`() {
    func line(_ length: Int) -> String {
      let start = "{\"type\":\"title\",\"title\":\""
      return start + String(repeating: "x", count: length - start.utf8.count - 2) + "\"}"
    }
    #expect(decode(line(65536)).event != nil)
    #expect(decode(line(65537)) == .rejected(.lineTooLong))
    let room = RoomName("r")
    #expect(decode(line(65537), override: room) == .rejected(.lineTooLong, room: "r"))
  }

  @Test func `a room set for the connection receives every line, whatever room the line names`() {
    let room = RoomName("mine")
    let lines: [(String, RejectionReason?)] = [
      (#"{"type":"chat.clear","room":"other"}"#, nil), (#"{"type":"chat.clear","room":"NO"}"#, nil),
      (#"{"type":"chat.clear"}"#, nil), ("{", .malformedJSON), ("@", .malformedIRC),
      ("hello", .unknownFormat), ("@x=y :t CLEARCHAT #chan", nil), ("PING", .protocolLine),
    ]
    for (line, reason) in lines {
      let outcome = decode(line, override: room)
      #expect(outcome.room == "mine" && outcome.reason == reason, "\(line)")
    }
  }

  @Test func `references to rooms stay valid until the decoder's list of rooms is cleared`() {
    var decoder = LineDecoder()
    func room(_ line: String) -> RoomReference? {
      let slab = ByteSlab(line.utf8)
      let slice = ByteSlab.Slice(offset: 0, count: slab.count)
      guard case .event(_, let room) = decoder.decode(slab, line: slice, arrival: 0) else {
        return nil
      }
      return room
    }
    var references: [RoomReference] = []
    for round in 0..<2 {
      for number in 0..<300 {
        let found = room(#"{"type":"chat.clear","room":"room\#(number)"}"#)
        guard let found else {
          Issue.record("room \(number) is not found")
          return
        }
        if round == 0 { references.append(found) }
        #expect(references[number] == found)
        #expect(decoder.name(of: found).description == "room\(number)")
      }
    }
    #expect(room("@x=y :t CLEARCHAT #ROOM7") == references[7])
    #expect(room(#"{"type":"chat.clear"}"#) == .main)
    #expect(decoder.roomCount == 301)
    decoder.overrideRoom(RoomName("kept"))
    decoder.forgetRooms()
    #expect(decoder.roomCount == 2)
    #expect(room(#"{"type":"chat.clear"}"#).map { decoder.name(of: $0).description } == "kept")
  }

  @Test func `a line may end with LF or CR LF`() {
    let slab = ByteSlab("a\r\n\n\r\nb\rc\nrest".utf8)
    var lines: [String] = []
    var offset = 0
    while let line = slab.nextLine(at: &offset) {
      lines.append(slab.withBytes(of: line) { String(decoding: $0, as: UTF8.self) })
    }
    #expect(lines == ["a", "", "", "b\rc"])
    #expect(offset == slab.count - 4)
  }

  @Test func `a line without an ending is decoded only if it is a complete JSON object`() {
    var decoder = LineDecoder()
    func reason(_ line: String) -> RejectionReason? {
      let slab = ByteSlab(line.utf8)
      let slice = ByteSlab.Slice(offset: 0, count: slab.count)
      let decoded = decoder.decodeUnended(slab, line: slice, arrival: 0)
      return outcome(decoded) { _ in "" }.reason
    }
    #expect(reason(#"{"type":"chat.clear"}"#) == nil)
    #expect(reason(#"{"type":"chat.cl"#) == .malformedJSON)
    #expect(reason("@id=1;user-id=5 :a!a@a PRIVMSG #c :hel") == .malformedIRC)
    #expect(reason("@id=1;us") == .malformedIRC)
  }
}
