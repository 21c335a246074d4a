import Glibc
import SystemSupport
import Systemd
import TestSupport
import Testing

@Suite struct JournalReaderTests {
  @Test func `a directory without journal files has no entries and accepts filters`() throws {
    let directory = TemporaryDirectory()
    var reader = try JournalReader(.directory(directory.path))
    try reader.match(.hang)
    try reader.match(.microhang)
    try reader.match(field: "LIVEHOST_ROOM", value: "main")
    try reader.seek(sinceRealtimeMicroseconds: 0)
    #expect(try reader.next() == nil)
    _ = try reader.wait(microseconds: 0)
    try reader.seekToLast(5)
    #expect(try reader.next() == nil)
    try reader.seekToLast(5, until: .max)
    #expect(try reader.next() == nil)
    #expect(try reader.fileBytes() == 0)
  }

  @Test func `a missing journal directory and an invalid field name are errors that name them`()
    throws
  {
    let missing = SystemError(.openJournal, code: ENOENT, context: "/nonexistent")
    do {
      _ = try JournalReader(.directory("/nonexistent"))
      Issue.record("opened a directory that does not exist")
    } catch {
      #expect(error == missing)
    }
    var reader = try JournalReader()
    do {
      try reader.match(field: "livehost room", value: "x")
      Issue.record("accepted a field name with a space")
    } catch {
      #expect(error == SystemError(.matchJournal, code: EINVAL, context: "livehost room"))
    }
  }
}
