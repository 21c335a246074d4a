import FileSystem
import Foundation
import Glibc
import Recordings
import SimulatedDisk
import TestSupport
import Testing

@Suite struct StateDirectoryTests {
  private let limit = 1_000
  private let directory: TemporaryDirectory
  private let files: StateDirectory

  init() throws {
    directory = TemporaryDirectory()
    files = StateDirectory(directory.path + "/state")
  }

  private func replace(_ text: String) throws { try files.replace("a", with: Array(text.utf8)) }

  private func read(_ version: StateDirectory.Version = .newest) throws -> String {
    let (line, isProven) = try files.read("a", version, limit: limit)
    #expect(isProven)
    return String(decoding: line, as: UTF8.self)
  }

  @Test func `a file is one line that jq can read, with the previous version beside it`() throws {
    try replace(#"{"x":1}"#)
    let first = try read()
    #expect(first.hasPrefix(#"{"x":1,"n":1,"crc":""#) && first.hasSuffix("\"}\n"))
    #expect(throws: RecordingError.self) { try read(.previous) }
    try replace(#"{"x":2}"#)
    #expect(try read().hasPrefix(#"{"x":2,"#))
    #expect(try read(.previous) == first)
    #expect(try files.names() == ["a", "a.previous"])
    #expect(try files.remove("a"))
    #expect(try !files.remove("a"))
    #expect(try files.names() == [])
  }

  @Test func `a change of any bit is detected`() throws {
    try replace(#"{"x":1}"#)
    let path = files.path(of: "a")
    let whole = try bytes(path)
    for index in whole.indices {
      for bit in 0..<8 {
        var rotten = whole
        rotten[index] ^= 1 << bit
        try write(rotten, to: path)
        // If the checksum member itself is damaged, the file looks like one without a checksum.
        let isProven = (try? files.read("a", limit: limit))?.isProven ?? false
        #expect(!isProven, "bit \(bit) of byte \(index)")
      }
    }
  }

  @Test func `a file larger than the limit is not read`() throws {
    try replace(#"{"x":"\#(String(repeating: "y", count: limit))"}"#)
    #expect(throws: RecordingError.tooLarge(path: files.path(of: "a"), bytes: limit + 32)) {
      try files.read("a", limit: limit)
    }
  }

  @Test func `a file that cannot be replaced is unchanged`() throws {
    let disk = SimulatedDisk()
    let files = StateDirectory("/state", disk: disk)
    try files.replace("a", with: Array(#"{"x":1}"#.utf8))
    disk.decide { $0.operation == .sync ? .error(EIO) : nil }
    #expect(throws: RecordingError.self) {
      try files.replace("a", with: Array(#"{"x":2}"#.utf8))
    }
    let (line, isProven) = try files.read("a", limit: limit)
    #expect(String(decoding: line, as: UTF8.self).hasPrefix(#"{"x":1,"#) && isProven)
    #expect(try files.names() == ["a"])
  }
}
