import FileSystem
import Foundation
import Glibc
import LiveEvents
import RateLimiting
import Recordings
import SimulatedDisk
import SystemSupport
import TestSupport
import Testing

/// Files forged by an attacker who knows the formats: valid checksums with impossible contents, and
/// directory entries that are not regular files.
@Suite(.timeLimit(.minutes(1))) struct ForgedFilesTests {
  private let directory: TemporaryDirectory
  private let files = FileManager.default
  private var recordings: String { directory.path + "/recordings" }
  private var log: String { directory.path + "/recordings.log" }

  /// A directory in memory, because some tests create many files.
  init() throws { directory = TemporaryDirectory(in: "/dev/shm") }

  private func open(
    _ settings: RecordingSettings = .small, _ messages: Messages = Messages()
  ) throws -> RecordingLibrary {
    try RecordingLibrary(directory: recordings, settings: settings, onProblem: messages.add)
  }

  /// Changes the lines of a segment, given without the members that chain them, and numbers them
  /// from `first`.
  private func forge(
    _ path: String, from first: Int = 1, _ change: (String) -> String = { $0 }
  ) throws {
    let lines = String(decoding: try bytes(path), as: UTF8.self).split(separator: "\n")
    var (checksum, text): (UInt32, String) = (0, "")
    for (index, line) in lines.enumerated() {
      let end = try #require(line.range(of: #","n":"#, options: .backwards))
      let covered = change(String(line[..<end.lowerBound])) + #","n":\#(first + index)"#
      checksum = Array(covered.utf8).withUnsafeBufferPointer { CRC32C.extend(checksum, $0) }
      let digits = String(checksum, radix: 16)
      text += covered + #","crc":""# + String(repeating: "0", count: 8 - digits.count) + digits
      text += "\"}\n"
    }
    try write(text.utf8, to: path)
  }

  /// Records some steps without closing the recording, and removes the log. Returns the path of the
  /// only segment.
  private func leave() async throws -> String {
    let library = try open(RecordingSettings().syncingAtOnce)
    let room = try await LoggedRoom(in: library)
    let recorder = try await room.record()
    await room.write(makeSteps(20))
    library.close()
    try forgetCatalogue()
    try directory.loseLog()
    return "\(recordings)/\(recorder.name)/000001.ndjson"
  }

  private func forgetCatalogue() throws {
    try files.removeItem(atPath: recordings + "/catalogue.sqlite")
  }

  /// Writes a batch of one room to the log.
  private func logSomething(_ library: RecordingLibrary) async throws {
    let room = try await LoggedRoom(in: library)
    await room.write([.frame(at: .origin, flush: false)])
    #expect(room.log.failure == nil)
  }

  // MARK: Not a regular file

  @Test func `only regular files are opened`() throws {
    let (file, pipe, device) = ("/file", "/pipe", "/device")
    try write([1], to: directory.path + file)
    #expect(mkfifo(directory.path + pipe, 0o600) == 0)
    try files.createSymbolicLink(
      atPath: directory.path + device, withDestinationPath: "/dev/zero")
    let disk = SystemDisk()
    // In this order, because opening the last one would block.
    for purpose in [OpenPurpose.changing, .appending, .reading] {
      disk.close(try disk.open(directory.path + file, for: purpose))
      for path in [device, pipe, ""] {
        let error = try #require(throws: SystemError.self) {
          _ = try disk.open(directory.path + path, for: purpose)
        }
        guard path == device else { continue }
        #expect(error.description.contains("which is not a regular file"))
      }
    }
  }

  @Test(arguments: ["-journal", "-wal"])
  func `a pipe beside the catalogue does not block`(_ suffix: String) async throws {
    let library = try open()
    let summary = try await library.record(makeSteps(20))
    library.close()
    #expect(mkfifo(recordings + "/catalogue.sqlite" + suffix, 0o600) == 0)
    let again = try open()
    #expect(try await again.list() == [summary])
    again.close()
    #expect(!files.fileExists(atPath: recordings + "/catalogue.sqlite" + suffix))
  }

  @Test(arguments: [
    "segment SET events = 1 << 62", "segment SET bytes = -1", "segment SET frames = 'many'",
    "segment SET lastAt = (1 << 62) + (1 << 61)", "recording SET endedAt = 1 << 54",
  ])
  func `a catalogue with numbers out of range is rebuilt`(_ change: String) async throws {
    let library = try open()
    let summary = try await library.record(makeSteps(20))
    library.close()
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [
      "python3", "-c",
      "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute(sys.argv[2]); c.commit()",
      recordings + "/catalogue.sqlite", "UPDATE \(change)",
    ]
    try process.run()
    process.waitUntilExit()
    try #require(process.terminationStatus == 0)
    let again = try open()
    #expect(try await again.list() == [summary])
    again.close()
    #expect(files.fileExists(atPath: recordings + "/catalogue.sqlite.damaged"))
  }

  /// File systems have times that do not fit in nanoseconds since 1970.
  @Test func `a file may have any modification time`() throws {
    let path = directory.path + "/file"
    try write([1], to: path)
    var states: [Int] = []
    for seconds in [-11_000_000_000, 1, 2, 15_000_000_000] {
      let time = timespec(tv_sec: seconds, tv_nsec: 5)
      try #require(utimensat(AT_FDCWD, path, [time, time], 0) == 0)
      states.append(try SystemDisk().state(of: path).modified)
    }
    #expect(states == states.sorted())
    #expect(states[1...2] == [1_000_000_005, 2_000_000_005])
  }

  @Test func `a pipe in the log is reported, and the log continues after it`() async throws {
    var library = try open()
    _ = try await library.recoverLog()
    try await logSomething(library)
    library.close()
    #expect(mkfifo(log + "/000002.ndjson", 0o600) == 0)
    for segment in 3...4 {
      let messages = Messages()
      library = try open(.small, messages)
      let contents = try await library.recoverLog()
      #expect(contents.rooms["main"] != nil)
      #expect(contents.losses.contains { $0.contains("000002.ndjson: Invalid argument") })
      try await logSomething(library)
      #expect(files.fileExists(atPath: "\(log)/00000\(segment).ndjson"))
      library.close()
    }
  }

  enum NoFile: CaseIterable {
    case pipe, directory, loop, nowhere

    func make(_ path: String) throws {
      switch self {
      case .pipe: #expect(mkfifo(path, 0o600) == 0)
      case .directory:
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
      case .loop:
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: path)
      case .nowhere:
        try FileManager.default.createSymbolicLink(
          atPath: path, withDestinationPath: path + ".none")
      }
    }
  }

  @Test(arguments: NoFile.allCases, [true, false])
  func `an unreadable segment does not hide the others, and can be restored`(
    _ thing: NoFile, hasCatalogue: Bool
  ) async throws {
    var library = try open()
    let summary = try await library.record(makeSteps(900))
    let segments = try await library.files(of: summary.name).segments
    library.close()
    let second = segments[1].path
    let aside = directory.path + "/aside"
    try files.moveItem(atPath: second, toPath: aside)
    try thing.make(second)
    if !hasCatalogue { try forgetCatalogue() }
    for start in 1...3 {
      // Restoring a backup keeps the times of files.
      if start == 3 { try write(try bytes(segments[0].path), to: segments[0].path) }
      let messages = Messages()
      library = try open(.small, messages)
      let listed = try #require(try await library.list().first)
      #expect(listed.state == .damaged && listed.segments == summary.segments)
      #expect(listed.bytes == summary.bytes - segments[1].bytes && listed.events > 0)
      let reason = try #require(listed.reason)
      #expect(reason.contains("000002.ndjson: "))
      #expect(messages.all == (start == 1 ? ["recording '\(summary.name)': \(reason)"] : []))
      var reader = RecordingReader(try await library.files(of: summary.name))
      var steps: [RecordedStep] = []
      #expect(throws: RecordingError.self) { while try reader.read(into: &steps) {} }
      #expect(!steps.isEmpty && makeSteps(900).starts(with: steps))
      library.close()
    }
    #expect(remove(second) == 0)
    try files.moveItem(atPath: aside, toPath: second)
    library = try open()
    #expect(try await library.list() == [summary])
    library.close()
  }

  @Test(arguments: NoFile.allCases)
  func `an unreadable entry after the last segment is damage only while it exists`(
    _ thing: NoFile
  ) async throws {
    var library = try open()
    let summary = try await library.record(makeSteps(20))
    library.close()
    let path = "\(recordings)/\(summary.name)/000002.ndjson"
    try thing.make(path)
    library = try open()
    #expect(try await library.list().map(\.state) == [.damaged])
    library.close()
    #expect(remove(path) == 0)
    library = try open()
    #expect(try await library.list() == [summary])
    #expect(try await library.readable(summary.name).damage == nil)
    library.close()
  }

  @Test func `readers ignore a file that is not part of the recording`()
    async throws
  {
    var library = try open()
    let summary = try await library.record(makeSteps(20))
    library.close()
    try write("notes\n".utf8, to: "\(recordings)/\(summary.name)/000002.ndjson")
    library = try open()
    #expect(try await library.list() == [summary])
    #expect(try await library.readable(summary.name).damage == nil)
    library.close()
    // It does not replace an announced segment.
    library = try open()
    let long = try await library.record(makeSteps(900), room: "long")
    let last = try #require(try await library.files(of: long.name).segments.last)
    library.close()
    try write("notes\n".utf8, to: last.path)
    try forgetCatalogue()
    library = try open()
    let damage = Damage(segment: last.number, .missing)
    #expect(
      try await library.list().first { $0.name == long.name }?.reason == damage.description)
    #expect(try await library.readable(long.name).damage == damage)
    library.close()
  }

  @Test func `a segment that cannot be opened is not reported as missing`() async throws {
    let disk = SimulatedDisk()
    var settings = RecordingSettings(on: disk)
    settings.segmentBytes = 8 << 10
    var library = try RecordingLibrary(directory: "/recordings", settings: settings)
    let summary = try await library.record(makeSteps(900))
    library.close()
    disk.decide { call in
      call.operation == .open && call.path.hasSuffix("000002.ndjson") ? .error(EACCES) : nil
    }
    library = try RecordingLibrary(directory: "/recordings", settings: settings)
    let path = "/recordings/\(summary.name)/000002.ndjson"
    await #expect(throws: RecordingError.file(operation: "open", path: path, code: EACCES)) {
      try await library.steps(of: summary.name)
    }
    library.close()
  }

  // MARK: Numbers

  @Test(arguments: [
    (newest: Int.max, startedAt: 0), (1_000_000_000_000_000_000, 0), (1, .max), (-5, -7),
  ])
  func `a number of the newest segment that is out of range is ignored`(
    newest: Int, startedAt: Int
  ) async throws {
    try StateDirectory(directory.path).replace(
      "recordings.log.json", with: Array(#"{"newest":\#(newest),"startedAt":\#(startedAt)}"#.utf8))
    let messages = Messages()
    let library = try open(.small, messages)
    #expect(try await library.recoverLog().losses == [])
    #expect(messages.all.count == 1 && messages.all[0].contains("its newest segment is damaged"))
    try await logSomething(library)
    library.close()
    #expect(try files.contentsOfDirectory(atPath: log) == ["000001.ndjson"])
  }

  @Test func `any number of missing segments costs neither time nor memory`() async throws {
    let newest = 1 << 52
    try StateDirectory(directory.path).replace(
      "recordings.log.json", with: Array(#"{"newest":\#(newest),"startedAt":1}"#.utf8))
    let library = try open()
    #expect(try await library.recoverLog().losses.count == 1)
    try await logSomething(library)
    library.close()
    #expect(try files.contentsOfDirectory(atPath: log) == ["\(newest + 1).ndjson"])
  }

  @Test func `a file name with a number out of range is not a segment`() async throws {
    var library = try open()
    _ = try await library.recoverLog()
    let summary = try await library.record(makeSteps(20))
    try await logSomething(library)
    library.close()
    let far = "/9223372036854775807.ndjson"
    try write("x".utf8, to: log + far)
    try write("x".utf8, to: "\(recordings)/\(summary.name)\(far)")
    try forgetCatalogue()
    library = try open()
    #expect(try await library.recoverLog().losses == [])
    try await logSomething(library)
    #expect(try await library.list() == [summary])
    library.close()
    #expect(files.fileExists(atPath: log + "/000002.ndjson"))
  }

  @Test func `lines after the largest line number are damage`() async throws {
    let segment = try await leave()
    let count = try bytes(segment).count { $0 == 0x0A }
    for first in [Int.max - count + 1, 1 << 53 - 1] {
      try forge(segment, from: first)
      let library = try open()
      #expect(try await library.list().map(\.state) == [.damaged])
      library.close()
      try forgetCatalogue()
    }
    try forge(segment, from: 1 << 53 - count - 1)
    let library = try open()
    #expect(try await library.list().map(\.state) == [.interrupted])
    library.close()
  }

  @Test(arguments: [Int.max, .min, -1])
  func `a start time out of range is damage, and the name states the start`(
    _ time: Int
  ) async throws {
    try forge(try await leave()) {
      $0.replacing(#""startedAt":1700000000000"#, with: #""startedAt":\#(time)"#)
    }
    let library = try open()
    let listed = try #require(try await library.list().first)
    #expect(listed.state == .damaged && listed.startedAt == 1_700_000_000_000)
    library.close()
  }

  @Test func `a recording whose time goes back has a duration of zero`() async throws {
    let library = try open()
    let steps = [5_000_000_000, 1_000_000_000].map {
      RecordedStep.frame(at: Instant(nanoseconds: $0), flush: false)
    }
    #expect(try await library.record(steps).durationMs == 0)
    library.close()
  }

  @Test(arguments: [
    #"{"room":"main","sequence":9223372036854775807,"after":1}"#,
    #"{"room":"main","sequence":2,"after":-1}"#, #"{"room":"main","sequence":2,"after":2}"#,
    #"{"room":"main","sequence":0,"after":-1,"closed":true}"#,
    #"{"room":"main","sequence":2,"after":3,"closed":true}"#,
    #"{"room":"main","sequence":1,"after":0,"opened":-9223372036854775808}"#,
    #"{"room":"main","sequence":9e18,"after":1}"#,
    #"{"room":"main","session":1,"batch":1}"#, #"{"room":"main"}"#,
  ])
  func `an impossible mark names no room`(_ text: String) {
    #expect(
      LogMark(.change(text, at: .origin))
        == LogMark(room: "", sequence: 1, after: 0))
  }

  @Test func `a second header does not hide that a segment is in the wrong place`()
    async throws
  {
    var library = try open()
    _ = try await library.recoverLog()
    try await logSomething(library)
    library.close()
    let path = log + "/000001.ndjson"
    try forge(path) {
      $0.hasPrefix(#"{"type":"segmentSynced""#) ? #"{"type":"recording","odd":true"# : $0
    }
    #expect(String(decoding: try bytes(path), as: UTF8.self).contains("odd"))
    try files.moveItem(atPath: path, toPath: log + "/000002.ndjson")
    library = try open()
    #expect(try await library.recoverLog().segments.isEmpty)
    library.close()
  }

  @Test func `a log sequence out of range does not exhaust the log sequences`() async throws {
    var library = try open()
    _ = try await library.recoverLog()
    try await logSomething(library)
    library.close()
    try forge(log + "/000001.ndjson") {
      $0.replacing(#""sequence":1,"#, with: #""sequence":9223372036854775807,"#)
    }
    library = try open()
    let contents = try await library.recoverLog()
    #expect(contents.newest == 1 && contents.rooms["main"] == nil)
    try await logSomething(library)
    library.close()
  }

  @Test(arguments: [Int.max, -1])
  func `a log sequence out of range in a recording makes its line invalid`(_ sequence: Int)
    async throws
  {
    let segment = try await leave()
    try forge(segment) { $0.replacing(#""sequence":0"#, with: #""sequence":\(sequence)"#) }
    let library = try open()
    #expect(try await library.list().map(\.state) == [.damaged])
    library.close()
  }

  // MARK: Many segments

  @Test func `many segments are entered into a new catalogue in one transaction`() async throws {
    var settings = RecordingSettings()
    settings.segmentBytes = 1
    var library = try open(settings)
    let room = try await LoggedRoom(in: library)
    let recorder = try await room.record()
    for number in 1...250 {
      await room.write([.frame(at: Instant(nanoseconds: Int64(number)), flush: false)])
    }
    let summary = try await recorder.finish(digest: nil, endedAt: 1_700_000_100_000)
    #expect(summary.segments > 250)
    library.close()
    try forgetCatalogue()
    library = try open(settings)
    #expect(try await library.list() == [summary])
    library.close()
    // The header of an SQLite file counts transactions.
    let counter = try bytes(recordings + "/catalogue.sqlite")[24..<28].reduce(0) {
      $0 << 8 | Int($1)
    }
    #expect(counter < 30)
  }
}
