import Compression
import Foundation
import Testing

@Suite struct GzipReaderTests {
  static let recording: [UInt8] = {
    let url = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../config/recordings/chat-burst.irc.gz")
    return (try? [UInt8](Data(contentsOf: url))) ?? []
  }()

  func inflate(_ bytes: [UInt8], piece: Int) throws -> [UInt8] {
    var reader = try GzipReader()
    var out: [UInt8] = []
    for start in stride(from: 0, to: bytes.count, by: piece) {
      try bytes[start..<min(start + piece, bytes.count)].withUnsafeBytes { input in
        try reader.read(input) { out.append(contentsOf: $0) }
      }
    }
    try reader.finish()
    return out
  }

  @Test(arguments: [1, 7, 4096, 1 << 20])
  func `a gzip reader gives the same output for input pieces of any size`(piece: Int) throws {
    let out = try inflate(Self.recording, piece: piece)
    #expect(out.count == 1_622_745)
    #expect(out.count { $0 == 0x0A } == 5000)
  }

  @Test func `all members of a gzip file are read`() throws {
    let once = try inflate(Self.recording, piece: 5000)
    #expect(try inflate(Self.recording + Self.recording, piece: 5000) == once + once)
  }

  @Test(arguments: [1, 7, 1 << 20])
  func `zero bytes after and between gzip members are ignored`(piece: Int) throws {
    let once = try inflate(Self.recording, piece: 5000)
    let zeros = [UInt8](repeating: 0, count: 700)
    #expect(try inflate(Self.recording + zeros, piece: piece) == once)
    #expect(try inflate(Self.recording + zeros + Self.recording + [0], piece: piece) == once + once)
  }

  @Test
  func `bytes after a gzip member that are not a member are an error, reported after the member`() {
    #expect(throws: GzipError.corrupt) { try inflate(Self.recording + [1, 2, 3], piece: 4096) }
    #expect(throws: GzipError.corrupt) { try inflate([0, 0] + Self.recording, piece: 4096) }
    #expect(throws: GzipError.truncated) { try inflate(Self.recording + [0, 0x1F], piece: 4096) }
  }

  @Test func `truncated gzip data is detected`() throws {
    #expect(throws: GzipError.truncated) {
      try inflate(Array(Self.recording.dropLast(9)), piece: 4096)
    }
    #expect(throws: GzipError.truncated) { try inflate([0x1F], piece: 1) }
    #expect(try inflate([], piece: 1) == [])
  }

  @Test func `damaged gzip data is detected`() {
    var damaged = Self.recording
    damaged[damaged.count / 2] ^= 0x10
    #expect(throws: GzipError.corrupt) { try inflate(damaged, piece: 4096) }
    #expect(throws: GzipError.corrupt) { try inflate(Array("no gzip".utf8), piece: 4096) }
    damaged = Self.recording
    damaged[damaged.count - 6] ^= 1
    #expect(throws: GzipError.corrupt) { try inflate(damaged, piece: 4096) }
  }
}
