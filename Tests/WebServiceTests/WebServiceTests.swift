import ControlInterface
import Foundation
import JSON
import NIOCore
import TestSupport
import Testing
import Varlink
import WebService

@Suite struct TokenTests {
  @Test func `a token grants the role that it stands for, and any other text grants none`() {
    let tokens = Tokens()
    #expect(tokens.reading != tokens.acting && tokens.acting.utf8.count == 64)
    #expect(tokens.role(of: tokens.acting) == .host)
    #expect(tokens.role(of: tokens.reading) == .viewer)
    #expect(Tokens().role(of: tokens.acting) == nil)
    for wrong in [nil, "", String(tokens.acting.dropLast()), tokens.acting + "0"] {
      #expect(tokens.role(of: wrong) == nil)
    }
  }
}

@Suite struct TokenFileTests {
  private let directory = TemporaryDirectory()
  private var path: String { directory.path + "/token" }

  @Test func `the token in a file is the same at each start, and other users cannot read it`()
    throws
  {
    let token = try TokenFile.read(path)
    #expect(token.utf8.count == 64)
    #expect(try TokenFile.read(path) == token)
    #expect(Tokens(reading: token).role(of: token) == .viewer)
    #expect(Tokens(reading: token).acting != Tokens(reading: token).acting)
    let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    #expect(mode == 0o600)
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["token"])
    chmod(path, 0o644)
    #expect(throws: PrivateFileFailure.self) { try TokenFile.read(self.path) }
  }

  @Test(arguments: ["", "0", String(repeating: "g", count: 64), String(repeating: "0", count: 65)])
  func `a token file without a valid token is not overwritten`(text: String) throws {
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    chmod(path, 0o600)
    #expect(throws: PrivateFileFailure.self) { try TokenFile.read(self.path) }
    #expect(try String(contentsOfFile: path, encoding: .utf8) == text)
  }

  @Test func `a missing directory for the token file is an error`() {
    let failure = #expect(throws: PrivateFileFailure.self) { try TokenFile.read("/nowhere/token") }
    #expect(failure?.description == "/nowhere/token.new: No such file or directory")
  }
}

@Suite struct HostNameTests {
  @Test(arguments: ["localhost:8317", "LOCALHOST:8317", "127.0.0.1:8317", "[::1]:8317"])
  func `the host names of this machine are accepted with the port`(name: String) {
    let names = HostNames([])
    names.setPort(8_317)
    #expect(names.contains(name))
    names.setPort(8_318)
    #expect(!names.contains(name))
  }

  @Test(arguments: [
    "", ":8317", "localhost", "evil.example", "evil.example:8317", "localhost.evil.example:8317",
    "127.0.0.1.evil.example:8317", "page.example:8317.evil.example", "localhost:8317:8317", "[::1",
    "0:8317", "127.1:8317",
    String(repeating: "a", count: 300),
  ])
  func `host names that are neither local nor configured are rejected`(name: String) {
    let names = HostNames(["page.example", "port.example:81"])
    names.setPort(8_317)
    #expect(!names.contains(name))
  }

  @Test func `host names of a proxy are accepted as configured`() {
    let names = HostNames(["page.example", "Port.example:81"])
    #expect(names.contains("page.example") && names.contains("page.example:443"))
    #expect(names.contains("port.example:81") && !names.contains("port.example:82"))
    #expect(names.contains("localhost:1"), "the proxy checks the port")
  }
}

@Suite struct RoomStateTests {
  private func room(_ viewers: Int, title: String? = "a") -> JSONValue {
    ["viewers": .integer(Int64(viewers)), "title": title.map { .string($0) } ?? .null]
  }

  private func text(_ buffer: ByteBuffer) -> String { String(buffer: buffer) }

  @Test func `a browser that reads slowly gets one patch with all changes`() throws {
    let state = RoomState()
    state.update(room(1), sequence: 1)
    let first = try #require(state.newest)
    for viewers in 2...100 { state.update(room(viewers), sequence: viewers) }
    let newest = try #require(state.newest)
    #expect(newest.sequence == 100)
    #expect(text(state.patch(from: first, to: newest)) == #"{"viewers":100}"#)
    #expect(text(state.patch(from: first, to: newest)) == #"{"viewers":100}"#)
    state.update(room(100, title: nil), sequence: 101)
    let last = try #require(state.newest)
    #expect(text(state.patch(from: newest, to: last)) == #"{"title":null}"#)
    #expect(text(state.patch(from: first, to: last)) == #"{"title":null,"viewers":100}"#)
    // The patch is to a version that is no longer the newest.
    #expect(text(state.patch(from: first, to: newest)) == #"{"viewers":100}"#)
  }

  @Test
  func `every change wakes all streams, but several changes together wake a stream only once`()
    async
  {
    let state = RoomState()
    let (one, signals) = state.subscribe()
    let (_, others) = state.subscribe()
    var wakes = signals.makeAsyncIterator()
    await wakes.next()
    for viewers in 1...10 { state.update(room(viewers), sequence: viewers) }
    await wakes.next()
    state.unsubscribe(one)
    #expect(await wakes.next() == nil)
    state.end(nil)
    var left = others.makeAsyncIterator()
    await left.next()
    #expect(await left.next() == nil)
    let (_, late) = state.subscribe()
    var ended = late.makeAsyncIterator()
    #expect(await ended.next() == nil)
  }

  @Test func `every waiting stream gets the error for a missing room`() async {
    let state = RoomState()
    let missing = VarlinkClientError.remote(VarlinkError(name: "x.NoSuchRoom"))
    let waiting = Task { try await state.begin() }
    state.end(missing)
    await #expect(throws: VarlinkClientError.self) { try await waiting.value }
    await #expect(throws: VarlinkClientError.self) { try await state.begin() }
    let open = RoomState()
    open.update(room(1), sequence: 1)
    open.end(nil)
    await #expect(throws: Never.self) { try await open.begin() }
  }
}

@Suite struct PublicAddressTests {
  @Test func `the configured address has a scheme, a host, and an optional port`() {
    #expect(PublicAddress("https://page.example/")?.text == "https://page.example")
    #expect(PublicAddress("http://127.0.0.1:8317")?.text == "http://127.0.0.1:8317")
    #expect(PublicAddress("http://[::1]:8317") != nil)
  }

  @Test(arguments: [
    "", "page.example", "ftp://page.example", "https://", "https:///", "https://page.example/a",
    "https://page.example?a", "https://page.example#t", "https://me@page.example",
    "https://page .example", "https://pagé.example",
    "https://" + String(repeating: "a", count: 300),
  ])
  func `text without a scheme, a host, or a valid port is rejected as an address`(text: String) {
    #expect(PublicAddress(text) == nil)
  }
}
