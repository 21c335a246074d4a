import FileSystem
import Foundation
import Glibc
import LiveEvents
import RateLimiting
import Recordings
import SimulatedDisk
import Synchronization
import TestSupport
import Testing

/// CRC-32C, computed bit by bit from its definition.
private func crc32c(_ bytes: some Sequence<UInt8>, after checksum: UInt32) -> UInt32 {
  var value = ~checksum
  for byte in bytes {
    value ^= UInt32(byte)
    for _ in 0..<8 { value = value >> 1 ^ (value & 1) * 0x82F6_3B78 }
  }
  return ~value
}

/// The checksums of lines: any change is detected, reported, and never replayed.
@Suite struct ChainTests {
  /// Settings with segments of a few lines.
  private static func settings(segmentBytes: Int = 1_000) -> RecordingSettings {
    var settings = RecordingSettings()
    settings.segmentBytes = segmentBytes
    return settings.syncingAtOnce
  }

  /// Makes a recording of some lines in two segments, finished or left by a killed program.
  private func record(
    _ steps: [RecordedStep], in directory: TemporaryDirectory, finishes: Bool,
    segmentBytes: Int = 1_000
  ) async throws -> (name: String, files: [String]) {
    let library = try RecordingLibrary(
      in: directory, settings: Self.settings(segmentBytes: segmentBytes))
    defer { library.close() }
    let room = try await LoggedRoom(in: library)
    let recorder = try await room.record()
    for start in stride(from: 0, to: steps.count, by: 5) {
      await room.write(steps[start..<min(start + 5, steps.count)])
    }
    if finishes { _ = try await recorder.finish(digest: nil, endedAt: 1_700_000_100_000) }
    return (recorder.name, try await library.files(of: recorder.name).segments.map(\.path))
  }

  @Test func `each line has a number, and a checksum that covers all lines before it`() async throws
  {
    let directory = TemporaryDirectory()
    let steps = makeSteps(60)
    let (_, files) = try await record(steps, in: directory, finishes: true)
    #expect(files.count > 2)
    var (number, previous): (Int, String?) = (0, nil)
    for file in files {
      var checksum: UInt32 = 0
      let lines = try LineMembers.of(bytes(file))
      #expect(lines.first?.previous == previous)
      for line in lines {
        number += 1
        checksum = crc32c(line.covered, after: checksum)
        let text = String(checksum, radix: 16)
        #expect(line.number == number)
        #expect(line.checksum == String(repeating: "0", count: 8 - text.utf8.count) + text)
      }
      previous = lines.last?.checksum
      #expect(lines.last?.type == "segmentEnd")
    }
  }

  @Test func `a segmentSynced line follows each sync of a recording and names a synced batch`()
    async throws
  {
    let disk = SimulatedDisk()
    let synced = Mutex<Set<Int>>([])
    disk.decide { call in
      if call.operation == .sync, call.path.hasPrefix("/recordings/"),
        let size = disk.contents(of: call.path)?.count
      {
        synced.withLock { _ = $0.insert(size) }
      }
      return nil
    }
    let library = try RecordingLibrary(
      directory: "/recordings", settings: RecordingSettings(on: disk).syncingAtOnce)
    defer { library.close() }
    let other = try await LoggedRoom("other", in: library)
    await other.write(makeSteps(2))
    let room = try await LoggedRoom(in: library)
    let recorder = try await room.record()
    // The other room has a newer batch.
    var expected = [[1, 0]]
    for number in 1...5 {
      expected.append([await room.write(makeSteps(20, seed: UInt64(number))), 20 * number])
      await other.write(makeSteps(2))
      // Without new lines, none is added.
      await room.write([])
    }
    let path = try await library.files(of: recorder.name).segments[0].path
    let contents = try #require(disk.contents(of: path))
    var (offset, steps) = (0, 0)
    var marks: [[Int]] = []
    for line in contents.split(separator: 0x0A) {
      let members = try LineMembers(Array(line))
      switch members.type {
      case "segmentSynced":
        #expect(synced.withLock { $0.contains(offset) })
        fallthrough
      case "recording": marks.append([members.sequence ?? -1, steps])
      default: steps += 1
      }
      offset += line.count + 1
    }
    #expect(marks == expected)
  }

  /// Makes one recording for each byte, in which that byte is changed.
  ///
  /// - Parameter hasCatalogue: whether the catalogue contains the unchanged recordings.
  private func expectRot(
    of files: [[UInt8]], steps: [RecordedStep], hasCatalogue: Bool
  ) async throws {
    let directory = TemporaryDirectory(in: "/dev/shm")
    let places = files.indices.flatMap { file in files[file].indices.map { (file, $0) } }
    func name(_ index: Int) -> String { "main-\(index)" }
    func path(_ index: Int, _ file: Int) -> String {
      "\(directory.recordings)/\(name(index))/00000\(file + 1).ndjson"
    }
    for index in places.indices {
      try FileManager.default.createDirectory(
        atPath: "\(directory.recordings)/\(name(index))", withIntermediateDirectories: true)
      for file in files.indices { try write(files[file], to: path(index, file)) }
    }
    if hasCatalogue {
      let library = try RecordingLibrary(in: directory, settings: Self.settings())
      #expect(try await library.list().allSatisfy { $0.state == .finished })
      library.close()
    }
    var rotten: [[UInt8]] = []
    for (index, (file, offset)) in places.enumerated() {
      rotten.append(files[file])
      rotten[index][offset] ^= 1 << UInt8(offset % 8)
      try write(rotten[index], to: path(index, file))
    }
    let messages = Messages()
    let library = try RecordingLibrary(
      in: directory, settings: Self.settings(), onProblem: messages.add)
    defer { library.close() }
    let list = Dictionary(
      uniqueKeysWithValues: try await library.list().map { ($0.name, $0) })
    let types = try files.map { try LineMembers.of($0).map(\.type) }
    let others: Set = ["recording", "segmentSynced", "segmentEnd"]
    for (index, (file, offset)) in places.enumerated() {
      let place: Comment = "byte \(offset) of file \(file + 1)"
      let line = files[file][..<offset].count { $0 == 0x0A }
      let before = (types[..<file].joined() + types[file][..<line]).count {
        !others.contains($0 ?? "")
      }
      let state = list[name(index)]?.state
      let (read, damage) = try await library.readable(name(index))
      if file == files.count - 1, !hasCatalogue, line > 0, before == steps.count {
        // Lines after the last sync look like the incomplete end of a killed program.
        #expect(state == .interrupted, place)
        #expect(read == steps && damage == nil, place)
        #expect(messages.all.contains { $0.contains("'\(name(index))'") }, place)
        continue
      }
      #expect(state == .damaged, place)
      #expect(list[name(index)]?.reason == damage?.description, place)
      #expect(read == Array(steps.prefix(before)), place)
      #expect(try bytes(path(index, file)) == rotten[index], "what is damaged is left alone")
      var check = RecordingCheck(try await library.files(of: name(index)))
      while try check.next() {}
      #expect(check.damage == damage && check.records == before, place)
    }
  }

  @Test(arguments: [true, false])
  func `a rotten byte of a finished recording is reported, and later lines are not replayed`(
    hasCatalogue: Bool
  ) async throws {
    let directory = TemporaryDirectory()
    let steps = makeSteps(12)
    let (_, files) = try await record(steps, in: directory, finishes: true)
    try #require(files.count == 2)
    try #require(try LineMembers.of(bytes(files[1])).count > 4, "steps in both")
    try await expectRot(of: files.map(bytes), steps: steps, hasCatalogue: hasCatalogue)
  }

  @Test func `a rotten byte in synced lines is not treated as a torn end`()
    async throws
  {
    let directory = TemporaryDirectory()
    let steps = makeSteps(4)
    let (_, files) = try await record(steps, in: directory, finishes: false)
    try await expectRot(of: files.map(bytes), steps: steps, hasCatalogue: false)
  }

  @Test(arguments: [true, false])
  func `a hole before the last segmentSynced line is damage; one after it is cut off`(
    isSynced: Bool
  ) async throws {
    let directory = TemporaryDirectory()
    let steps = makeSteps(8)
    let (name, files) = try await record(
      Array(steps.prefix(5)), in: directory, finishes: false, segmentBytes: 8_000)
    let first = try bytes(files[0])
    try directory.empty()
    _ = try await record(steps, in: directory, finishes: false, segmentBytes: 8_000)
    // Of the lines after the first segmentSynced line, only the last ones reached the disk.
    var contents = try bytes(files[0])
    #expect(contents.starts(with: first))
    if !isSynced { contents = contents.dropLast(try #require(contents.lastMarkLength)) }
    for offset in first.count..<(first.count + 20) { contents[offset] = 0 }
    try write(contents, to: files[0])
    try FileManager.default.removeItem(atPath: directory.recordings + "/catalogue.sqlite")
    try directory.loseLog()
    let library = try RecordingLibrary(in: directory, settings: Self.settings())
    defer { library.close() }
    #expect(try await library.list().map(\.state) == [isSynced ? .damaged : .interrupted])
    #expect(try await library.readable(name).steps == Array(steps.prefix(5)))
    #expect(try bytes(files[0]).starts(with: isSynced ? contents : first))
  }

  @Test func `a segment of another recording is not continued`() async throws {
    let directory = TemporaryDirectory()
    let steps = makeSteps(40)
    let (name, files) = try await record(steps, in: directory, finishes: true)
    let (_, others) = try await record(
      makeSteps(40, seed: 7), in: directory, finishes: true)
    let count = try LineMembers.of(bytes(others[0])).count
    try write(bytes(others[0]), to: files[0])
    try FileManager.default.removeItem(atPath: directory.recordings + "/catalogue.sqlite")
    let library = try RecordingLibrary(in: directory, settings: Self.settings())
    defer { library.close() }
    let listed = try #require(try await library.list().first { $0.name == name })
    #expect(listed.state == .damaged)
    #expect(listed.reason == "segment 2 does not continue the previous segment")
    let (read, damage) = try await library.readable(name)
    #expect(damage?.segment == 2)
    #expect(read.count < count)
  }

  @Test func `missing lines at the end of a closed segment are reported`() async throws {
    let directory = TemporaryDirectory()
    let (name, files) = try await record(makeSteps(40), in: directory, finishes: true)
    let last = try #require(files.last)
    let library = try RecordingLibrary(in: directory, settings: Self.settings())
    #expect(try await library.list().map(\.state) == [.finished])
    var contents = try bytes(last)
    contents.removeLast(
      contents.count - (try #require(contents.dropLast().lastIndex(of: 0x0A)) + 1))
    try write(contents, to: last)
    #expect(try await library.readable(name).damage?.segment == files.count)
    library.close()
    let next = try RecordingLibrary(in: directory, settings: Self.settings())
    defer { next.close() }
    #expect(try await next.list().map(\.state) == [.damaged])
  }

  @Test
  func `a recording of an earlier version can be read, and continues with chained lines`()
    async throws
  {
    let directory = TemporaryDirectory()
    let old = (1...3).map { "{\"type\":\"frame\",\"at\":\($0)}" }
    try OldRecording(lines: old + ["{\"type\":\"frame\",\"at\":4}"]).write(to: directory.recordings)
    let file = directory.recordings + "/\(OldRecording.name)/000001.ndjson"
    #expect(truncate(file, off_t(try bytes(file).count - 2)) == 0)
    let library = try RecordingLibrary(in: directory, settings: Self.settings())
    defer { library.close() }
    #expect(try await library.list().map(\.state) == [.interrupted])
    #expect(try bytes(file).last == 0x0A, "the torn end is cut off")
    let room = try await LoggedRoom(in: library)
    let recorder = try await room.record(resuming: OldRecording.name)
    let more = makeSteps(5)
    await room.write(more)
    #expect(try await recorder.finish(digest: nil, endedAt: 1).state == .finished)
    let frames = (1...3).map { RecordedStep.frame(at: Instant(nanoseconds: $0), flush: false) }
    #expect(try await library.readable(OldRecording.name) == (frames + more, nil))
  }

  @Test(arguments: [("befa3eca", false), ("00000000", true)])
  func `the checksum of a closed segment of an earlier version is verified`(
    checksum: String, isDamaged: Bool
  ) async throws {
    let directory = TemporaryDirectory()
    let last =
      "{\"type\":\"segmentEnd\",\"crc32\":\"\(checksum)\",\"events\":0,\"frames\":1,\"state\":\"finished\"}"
    try OldRecording(lines: ["{\"type\":\"frame\",\"at\":1}"]).write(
      to: directory.recordings, last: last)
    let library = try RecordingLibrary(in: directory, settings: Self.settings())
    defer { library.close() }
    #expect(try await library.list().map(\.state) == [isDamaged ? .damaged : .finished])
    #expect(try await library.readable(OldRecording.name).damage?.segment == (isDamaged ? 1 : nil))
  }
}

extension [UInt8] {
  /// The length of the last line if it is a `segmentSynced` line.
  fileprivate var lastMarkLength: Int? {
    guard let line = split(separator: 0x0A).last,
      (try? LineMembers(Array(line)))?.type == "segmentSynced"
    else { return nil }
    return line.count + 1
  }
}
