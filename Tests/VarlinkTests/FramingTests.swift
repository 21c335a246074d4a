import JSON
import NIOCore
import Testing
import Varlink

@Suite struct FramingTests {
  static let stream = "{\"a\":1}\0\0{}\0" + String(repeating: "x", count: 30) + "\0rest"

  private func messages(_ pieces: [String], limit: Int = 100) throws -> [String] {
    var splitter = MessageSplitter(maximumBytes: limit)
    var messages: [String] = []
    for piece in pieces {
      var bytes = ByteBuffer(string: piece)
      splitter.append(&bytes)
      while let message = try splitter.next() { messages.append(String(buffer: message)) }
    }
    return messages
  }

  @Test(arguments: 0...stream.utf8.count)
  func `a byte stream produces the same Varlink messages wherever it is split`(position: Int) throws
  {
    let index = Self.stream.utf8.index(Self.stream.startIndex, offsetBy: position)
    let whole = try messages([Self.stream])
    #expect(whole == ["{\"a\":1}", "", "{}", String(repeating: "x", count: 30)])
    #expect(try messages([String(Self.stream[..<index]), String(Self.stream[index...])]) == whole)
  }

  @Test func `a byte stream that arrives byte by byte produces the same messages`() throws {
    #expect(try messages(Self.stream.map(String.init)) == messages([Self.stream]))
  }

  @Test func `an incomplete message is kept until its rest arrives`() throws {
    #expect(try messages(["{\"method\":"]) == [])
  }

  @Test func `a message exactly at the size limit is accepted, and one byte more is not`() throws {
    let text = String(repeating: "x", count: 10)
    #expect(try messages([text + "\0"], limit: 10) == [text])
    #expect(throws: MessageSplitter.Failure.messageTooLong) {
      try messages([text + "x\0"], limit: 10)
    }
  }

  @Test func `an endless message is rejected before its end`() {
    #expect(throws: MessageSplitter.Failure.messageTooLong) {
      try messages([String(repeating: "x", count: 11)], limit: 10)
    }
  }

  @Test func `the bytes of returned messages are released`() throws {
    var splitter = MessageSplitter(maximumBytes: 100)
    var bytes = ByteBuffer(string: "one\0tw")
    splitter.append(&bytes)
    let hadFirst = splitter.hasNext()
    let first = try splitter.next().map { String(buffer: $0) }
    let hasSecond = splitter.hasNext()
    #expect(hadFirst && first == "one" && !hasSecond)
    #expect(splitter.heldBytes == 2)
  }

  @Test func `memory stays bounded even if every received piece ends within the next message`()
    throws
  {
    var splitter = MessageSplitter(maximumBytes: 100)
    for number in 0..<10_000 {
      var bytes = ByteBuffer(string: number == 0 ? "0" : "\0\(number)")
      splitter.append(&bytes)
      let message = try splitter.next().map { String(buffer: $0) }
      #expect(message == (number == 0 ? nil : "\(number - 1)"))
    }
    #expect(splitter.heldBytes == 4)
    #expect(splitter.allocatedBytes <= 64)
  }
}

@Suite struct CallMessageTests {
  private func parse(_ text: String) throws -> CallMessage {
    try CallMessage(parsing: ByteBuffer(string: text))
  }

  @Test func `absent, null and empty parameters are read alike`() throws {
    let plain = CallMessage(method: "a.b.C")
    #expect(try parse(#"{"method":"a.b.C"}"#) == plain)
    #expect(try parse(#"{"method":"a.b.C","parameters":null,"more":null}"#) == plain)
    #expect(try parse(#" {"parameters" : {}, "method":"a.b.C", "oneway":false} "#) == plain)
  }

  @Test func `encoded messages are decoded to the same messages`() throws {
    for mode in [CallMessage.Mode.simple, .oneway, .more, .upgrade] {
      let call = CallMessage(method: "a.b.C", parameters: ["x": [1, "\u{0}ü\n"]], mode: mode)
      var bytes = call.encoded()
      #expect(bytes.readableBytesView.firstIndex(of: 0) == bytes.writerIndex - 1)
      let message = bytes.readSlice(length: bytes.readableBytes - 1) ?? ByteBuffer()
      #expect(try CallMessage(parsing: message) == call)
    }
  }

  @Test func `extensions in messages are ignored`() throws {
    #expect(try parse(#"{"method":"a.b.C","org.example":{"x":1}}"#).method == "a.b.C")
  }

  static let malformed: [(String, CallMessage.Malformation)] = [
    ("[]", .notAnObject), ("1", .notAnObject), ("{}", .noMethod),
    (#"{"method":1}"#, .noMethod),
    (#"{"method":"a.b.C","more":1}"#, .flagNotBoolean("more")),
    (#"{"method":"a.b.C","oneway":"true"}"#, .flagNotBoolean("oneway")),
    (#"{"method":"a.b.C","upgrade":{}}"#, .flagNotBoolean("upgrade")),
    (#"{"method":"a.b.C","more":true,"oneway":true}"#, .twoFlags),
    (#"{"method":"a.b.C","more":true,"upgrade":true}"#, .twoFlags),
    (#"{"method":"a.b.C","parameters":[]}"#, .parametersNotAnObject),
    (#"{"method":"a.b.C","extra":1}"#, .unknownMember("extra")),
    (#"{"method":"a.b.C","X-extra":1}"#, .unknownMember("X-extra")),
  ]

  @Test(arguments: malformed)
  func `a malformed call is rejected with a reason`(text: String, reason: CallMessage.Malformation)
  {
    #expect(throws: reason) { try parse(text) }
  }

  @Test func `a reply with an error cannot have the flag continues`() throws {
    func reply(_ text: String) throws -> ReplyMessage {
      try ReplyMessage(parsing: ByteBuffer(string: text))
    }
    #expect(try reply("{}") == reply(#"{"parameters":{},"continues":false}"#))
    #expect(throws: CallMessage.Malformation.twoFlags) {
      try reply(#"{"error":"a.b.C","continues":true}"#)
    }
    #expect(throws: CallMessage.Malformation.unknownMember("extra")) {
      try reply(#"{"extra":1}"#)
    }
  }
}
