import LiveEvents
import Recordings
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1))) struct PagingTests {
  /// Seven recordings of two rooms, alternating, the last of which is being written.
  private func record(_ library: RecordingLibrary) async throws -> [String] {
    var names: [String] = []
    for number in 0..<7 {
      let room = try await LoggedRoom(number.isMultiple(of: 2) ? "even" : "odd", in: library)
      let recorder = try await room.record(startedAt: 1_700_000_000_000 + number * 60_000)
      names.append(recorder.name)
      await room.write(makeSteps(3))
      if number < 6 { _ = try await recorder.finish(digest: nil, endedAt: 1_700_000_600_000) }
    }
    return names
  }

  private struct Page: Equatable {
    let names: [String]
    let older: Int

    init(_ names: ArraySlice<String>, _ older: Int) {
      self.names = Array(names)
      self.older = older
    }
  }

  private func expectPages(_ names: [String], of library: RecordingLibrary) async throws {
    func page(room: String? = nil, before: String? = nil, limit: Int) async throws -> Page {
      let page = try await library.page(room: room, before: before, limit: limit)
      return Page(page.recordings.map(\.name)[...], page.older)
    }
    // Pages from the newest to the oldest; in each page, the oldest recording comes first.
    #expect(try await page(limit: 3) == Page(names[4...], 4))
    #expect(try await page(before: names[4], limit: 3) == Page(names[1..<4], 1))
    #expect(try await page(before: names[1], limit: 3) == Page([names[0]], 0))
    #expect(try await page(before: names[0], limit: 3) == Page([], 0))
    // A page with exactly the remaining recordings.
    #expect(try await page(before: names[3], limit: 3) == Page(names[..<3], 0))
    #expect(try await page(limit: 7) == Page(names[...], 0))
    // The recordings of one room before a recording of another room.
    #expect(try await page(room: "odd", limit: 2) == Page([names[3], names[5]], 1))
    #expect(try await page(room: "odd", before: names[3], limit: 2) == Page([names[1]], 0))
    #expect(
      try await page(room: "odd", before: names[4], limit: 2) == Page([names[1], names[3]], 0))
    #expect(try await page(room: "none", limit: 2) == Page([], 0))
    // No recording is older than one that does not exist.
    #expect(try await page(before: "no such recording", limit: 3) == Page([], 0))
  }

  @Test func `recordings are listed in the same pages before and after a restart`() async throws {
    let directory = TemporaryDirectory()
    let library = try RecordingLibrary(in: directory)
    let names = try await record(library)
    try await expectPages(names, of: library)
    #expect(try await library.page(limit: 1).recordings.map(\.state) == [.recording])
    library.close()
    await library.settle()
    let next = try RecordingLibrary(in: directory)
    try await next.open()
    try await expectPages(names, of: next)
    #expect(try await next.page(limit: 1).recordings.map(\.state) == [.interrupted])
    next.close()
  }
}
