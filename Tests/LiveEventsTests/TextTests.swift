import LiveEvents
import Testing

@Suite struct SlabTextTests {
  func text(_ bytes: String, _ escape: ByteSlab.Escape) -> Text {
    let bytes = Array("xx\(bytes)yy".utf8)
    return Text(
      slab: ByteSlab(bytes),
      slice: ByteSlab.Slice(offset: 2, count: bytes.count - 4, escape: escape))
  }

  @Test(arguments: [
    (#"plain"#, "plain"), (#"a\"b\\c\/d"#, #"a"b\c/d"#), (#"\b\f\n\r\t"#, "\u{8}\u{C}\n\r\t"),
    (#"\u00e9\u20AC"#, "é€"), (#"\ud83d\ude00!"#, "😀!"), (#"\ud83d"#, "\u{FFFD}"),
    (#"\ude00x"#, "\u{FFFD}x"), (#"\ud83d\u0041"#, "\u{FFFD}A"), ("", ""),
  ])
  func `JSON escapes are resolved when the text is read`(raw: String, read: String) {
    #expect(String(text(raw, .json)) == read)
  }

  @Test(arguments: [
    (#"a\sb\:c\\d\r\n"#, "a b;c\\d\r\n"), (#"tail\"#, "tail"), (#"\x"#, "x"), ("", ""),
  ])
  func `IRC tag escapes are resolved when the text is read`(raw: String, read: String) {
    #expect(String(text(raw, .ircTag)) == read)
  }

  @Test(arguments: [
    ("", ""), (#""a""#, "a"), (#" "a" , "b\"c" ,"","#, #"a,b"c,"#), (#""\\","x""#, #"\,x"#),
  ])
  func `a text made from an array of strings is the strings joined by commas`(
    raw: String, read: String
  ) {
    #expect(String(text(raw, .jsonStrings)) == read)
  }

  @Test func `texts are equal if their unescaped contents are equal`() {
    let plain = Text("a b")
    #expect(plain == text(#"a\sb"#, .ircTag))
    #expect(plain == text(#"a\u0020b"#, .json))
    #expect(plain.hashValue == text(#"a\sb"#, .ircTag).hashValue)
    #expect(plain != text(#"a\sb"#, .none))
  }

  @Test
  func `a text copied out of its line has the same contents and keeps nothing else in memory`() {
    let owned = text(#"a\nb"#, .json).owned()
    #expect(String(owned) == "a\nb")
    #expect(owned.byteCount == 3)
    #expect(owned.escape == .none)
  }

  @Test func `the raw bytes of a text are the received bytes`() {
    #expect(text(#"a\nb"#, .json).withRawBytes { Array($0) } == Array(#"a\nb"#.utf8))
  }

  @Test func `a message whose texts are copied out of its line has the same contents`() {
    let message = ChatMessage(
      id: "1", userID: "u", userName: "Ü", badges: "a/1,b/2", color: NameColor("#FFa000"),
      text: "hé", replyTo: "0", bits: 4_000_000_000, channel: "ö", isAction: true)
    #expect(String(message.userName) == "Ü")
    #expect(String(message.badges) == "a/1,b/2")
    #expect(String(message.text) == "hé")
    #expect(String(message.replyTo) == "0")
    #expect(message.bits == 4_000_000_000)
    #expect(message.color == NameColor(rgb: 0xFFA000) && message.isAction)
    #expect(String(message.channel) == "ö")
    #expect(message.owned() == message)
    #expect(message.owned(bits: 7).bits == 7 && message.owned(bits: 7).color == message.color)
    #expect(message.owned(bits: 0).bits == 0 && message.owned(bits: 0).channel == "ö")
    #expect(
      message.owned(
        channel: Text(
          slab: ByteSlab(#"a\nb"#.utf8), slice: ByteSlab.Slice(offset: 0, count: 4, escape: .json))
      ).channel == "a\nb")
  }

  @Test(arguments: [
    "", "#", "#12345", "#1234567", "1E90FF#", "#12345g", "#-12345", "blue", "#1234\u{E9}",
  ])
  func `text that is not a colour is rejected`(text: String) { #expect(NameColor(text) == nil) }

  @Test func `every colour, including black, is written in the platforms' format and read back`() {
    for rgb: UInt32 in [0, 0xFF, 0x1E90FF, 0xFFFFFF] {
      #expect(NameColor(NameColor(rgb: rgb).description) == NameColor(rgb: rgb))
    }
    #expect(NameColor(rgb: 0x1E90FF).description == "#1E90FF")
    let message = ChatMessage(
      id: "1", userID: "u", userName: "n", color: NameColor(rgb: 0), text: "t")
    #expect(message.color == NameColor(rgb: 0) && message.bits == 0)
  }

  @Test func `emotes are kept with a message, regardless of its other data`() {
    for bits: UInt32 in [0, 5] {
      let message = ChatMessage(
        id: "1", userID: "u", userName: "n", text: "hé Kappa Kappa", bits: bits, channel: "c",
        emotes: [9..<14, 3..<8])
      #expect(message.emotes == [3..<8, 9..<14])
      #expect(message.bits == bits && message.channel == "c")
      #expect(message.owned() == message)
      let other = message.owned(channel: "longer", bits: 7)
      #expect(other.emotes == message.emotes && other.bits == 7 && other.channel == "longer")
      #expect(message.owned(emotes: []).emotes == [] && message.owned(emotes: []) != message)
      #expect(message.owned(emotes: []).byteCount < message.byteCount)
    }
  }

  @Test(
    arguments: [
      ([], []), ([0..<0], []), ([0..<3], []), ([0..<2], [0..<2]),
      ([1..<2, 0..<1], [0..<1, 1..<2]),
      ([0..<2, 1..<2], [0..<2]), ([1..<2, 1..<2], [1..<2]), ([0..<65_536], []),
      ([2..<9, 1..<2], [1..<2]),
    ] as [([Range<Int>], [Range<Int>])])
  func `emotes with invalid ranges are left out`(given: [Range<Int>], kept: [Range<Int>]) {
    // The text has two scalars of four bytes each.
    #expect(EmoteRanges.usable(given, in: "\u{1F600}\u{1F601}") == kept)
  }

  @Test func `a message keeps at most the maximum number of emotes`() {
    let text = Text(String(repeating: "a", count: 60_000))
    let many = (0..<100_000).map { $0 % 30_000 * 2..<$0 % 30_000 * 2 + 1 }
    let message = ChatMessage(id: "1", userID: "u", userName: "n", text: String(text), emotes: many)
    #expect(message.emotes == Array(many.prefix(EmoteRanges.limit)))
    #expect(message.emotes.count == EmoteRanges.limit)
    // The first ranges given are the last in the text, and the limit still applies.
    #expect(EmoteRanges.usable(many.reversed(), in: text).count <= EmoteRanges.limit)
  }

  @Test func `positions of emotes are read as pairs of numbers`() {
    #expect(EmoteRanges.paired([]) == [])
    #expect(EmoteRanges.paired([0, 2, 1, 1]) == [0..<2, 1..<1])
    #expect(EmoteRanges.paired([0]) == nil && EmoteRanges.paired([2, 1]) == nil)
  }

  // Messages are copied often, so rare data must not enlarge all of them.
  @Test func `a chat message occupies eight machine words`() {
    #expect(MemoryLayout<ChatMessage>.stride == 64)
  }

  @Test func `the bytes of a slab are followed by readable zero bytes`() {
    let slab = ByteSlab([1, 2, 3])
    let sum = slab.withBytes { bytes in
      (0..<ByteSlab.padding).reduce(0) { $0 &+ Int(bytes.baseAddress![3 + $1]) }
    }
    #expect(sum == 0)
    #expect(slab.count == 3)
  }
}

@Suite struct RoomNameTests {
  @Test(arguments: ["main", "a", "0", "_x", "a.b-c_d", String(repeating: "a", count: 64)])
  func `a valid room name is accepted`(name: String) {
    #expect(RoomName(name)?.description == name)
  }

  @Test(arguments: [
    "", ".a", "-a", "A", "aB", "a b", "a/b", "ä", "a\0", String(repeating: "a", count: 65),
  ])
  func `an invalid room name is rejected`(name: String) {
    #expect(RoomName(name) == nil)
  }
}
