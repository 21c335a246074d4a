import Analysis
import ChatFeature
import ControlInterface
import FileSystem
import Foundation
import Glibc
import HostScreen
import Ingest
import JSON
import LiveEvents
import LivehostDaemon
import Prometheus
import Recordings
import Rooms
import SimulatedDisk
import Synchronization
import TestSupport
import Testing
import WireFormats

/// Every second message is nearly identical to the other messages with this text.
private func chat(_ numbers: Range<Int>) -> [LiveEvent] {
  numbers.map { number in
    let isSpam = number % 2 == 0
    return LiveEvent(
      timestamp: 1_700_000_000_000 + Timestamp(number * 13),
      payload: .chat(
        .message(
          ChatMessage(
            id: "m\(number)", userID: "u\(number % 20)", userName: "Ada",
            text: isSpam
              ? "Buy cheap followers at example dot com \(number)"
              : unlike(number)))))
  }
}

/// A text that resembles no other text.
private func unlike(_ number: Int, length: Int = 24) -> String {
  var random = SplitMix64(seed: UInt64(number))
  return String(
    String.UnicodeScalarView(
      (0..<length).map { _ in UnicodeScalar(UInt8(random.pick(97..<123))) }))
}

/// Returns the messages of each second: one per second for 90 s, nine per second for 15 s of
/// cheers, then one per second for 15 s.
private func match() -> [[LiveEvent]] {
  (0..<120).map { second in
    let isGoal = (90..<105).contains(second)
    return (0..<(isGoal ? 9 : 1)).map { number in
      LiveEvent(
        timestamp: 1_700_000_000_000 + Timestamp(second) * 1_000 + Timestamp(number) * 100,
        payload: .chat(
          .message(
            ChatMessage(
              id: "m\(second)-\(number)", userID: "u\(number)", userName: "Ada",
              text: isGoal ? "GOAL \(unlike(number))" : unlike(second * 100)))))
    }
  }
}

@Suite(.timeLimit(.minutes(1))) struct BurstTests {
  private let home = TemporaryDirectory()

  private let again = RoomName("again")!

  private var settings: RoomSettings {
    var settings = RoomSettings()
    settings.analysesChat = true
    return settings
  }

  private func effects(_ lane: HostLane, _ room: RoomName = .main) async -> Int? {
    await lane.metrics().first { $0.room == room.description }?.effects
  }

  private func report(_ lane: HostLane, _ room: RoomName = .main) async throws -> ChatReport {
    try #require(await lane.report(room)?.features.chat)
  }

  /// Waits until a burst of duplicates has this many messages.
  private func untilBurst(has count: Int, _ lane: HostLane) async throws {
    while try await report(lane).waves?.contains(where: { $0.messages == count }) != true {
      await Task.yield()
    }
  }

  @Test(arguments: [FrameClock.event, .arrival])
  func `a replay shows the recorded bursts of duplicates and does not search again`(
    clock: FrameClock
  )
    async throws
  {
    let studio = try Studio(settings: settings)
    _ = try studio.directory.open(.main)
    _ = try await studio.recordings.start(.main, on: studio.lane)
    for part in 0..<10 {
      _ = await studio.send(chat(part * 40..<part * 40 + 40), to: .main, clock: clock)
    }
    try await untilBurst(has: 200, studio.lane)
    let deletion = LiveEvent(
      timestamp: 1_700_000_006_000, payload: .chat(.delete(messageID: "m100")))
    _ = await studio.send([deletion], to: .main, clock: clock)
    let live = try await report(studio.lane)
    let wave = try #require(live.waves?.first)
    #expect(wave.number == 1 && wave.messages == 199 && wave.people == 10)
    #expect(live.total == 400 && live.waves?.count == 1)
    let recording = try await studio.recordings.stop(.main, on: studio.lane)
    #expect(await effects(studio.lane) ?? 0 > 0)
    let metrics = try await studio.control.getMetrics()
    let slices = try #require(metrics.first { $0.name == "livehost_effect_longest_slice_seconds" })
    #expect(slices.samples.map(\.labels) == [["effect": "ChatFeature.analysis"]])
    #expect(slices.samples[0].value > 0)

    // Plays the recording into a room that would search by itself, and whose settings differ from
    // those of the recorded room.
    let replay = try await studio.replay(recording.recording, into: again)
    #expect(replay.digest == recording.digest && replay.digest != "")
    #expect(await effects(studio.lane, again) == 0)
    // After the replay, the room starts a new search.
    #expect(try await report(studio.lane, again).waves?.isEmpty == true)
    try await studio.end()
  }

  @Test
  func `a recording that begins later contains only the bursts of duplicates since its start`()
    async throws
  {
    let studio = try Studio(settings: settings)
    _ = try studio.directory.open(.main)
    _ = await studio.send(chat(0..<100), to: .main, clock: .event)
    try await untilBurst(has: 50, studio.lane)
    _ = try await studio.recordings.start(.main, on: studio.lane)
    _ = await studio.send(chat(100..<160), to: .main, clock: .event)
    try await untilBurst(has: 30, studio.lane)
    let recording = try await studio.recordings.stop(.main, on: studio.lane)
    var reader = RecordingReader(try await studio.library.files(of: recording.recording))
    var steps: [RecordedStep] = []
    while try reader.read(into: &steps) {}
    let waves = steps.compactMap { step -> ChatFindings? in
      guard case .event(let event, _) = step, case .chat(.findings(let found)) = event.payload
      else { return nil }
      return found
    }
    #expect(waves.first?.run == 1)
    #expect(waves.flatMap(\.samples).count == 1)
    try await studio.end()
  }

  @Test
  func `a recording replays with or without bursts as recorded, whatever the settings are now`()
    async throws
  {
    for isSearched in [false, true] {
      var recorded = settings
      recorded.analysesChat = isSearched
      let studio = try Studio(settings: recorded)
      _ = try studio.directory.open(.main)
      _ = try await studio.recordings.start(.main, on: studio.lane)
      _ = await studio.send(chat(0..<100), to: .main, clock: .event)
      if isSearched { try await untilBurst(has: 50, studio.lane) }
      let recording = try await studio.recordings.stop(.main, on: studio.lane)
      recorded.analysesChat.toggle()
      studio.lane.postSettings(recorded)
      let replay = try await studio.replay(recording.recording, into: again)
      #expect(replay.digest == recording.digest && replay.digest != "")
      #expect((try await report(studio.lane, again).waves != nil) == !isSearched)
      try await studio.end()
    }
  }

  @Test func `bursts of duplicates survive a kill and keep growing under the same number`()
    async throws
  {
    for isRecorded in [false, true] {
      let path = "\(home.path)/\(isRecorded)"
      let first = try KeptRooms(in: path, settings: settings)
      _ = try first.directory.open(.main)
      if isRecorded { _ = try await first.recordings.start(.main, on: first.lane) }
      await first.send(chat(0..<100))
      try await untilBurst(has: 50, first.lane)
      await first.send(chat(100..<120))
      // Stops without waiting for searches in flight.
      let copy = try first.kill()
      try await first.end()

      let second = try KeptRooms(in: copy, settings: settings)
      await second.restore()
      let before = try await report(second.lane)
      #expect(before.total == 120)
      // Messages whose search was in flight are searched again.
      try await untilBurst(has: 60, second.lane)
      await second.send(chat(120..<199))
      try await untilBurst(has: 100, second.lane)
      // The results are on disk by then too.
      await second.send([LiveEvent(timestamp: 0, payload: .header(.viewers(count: 1)))])
      let after = try await report(second.lane)
      #expect(after.waves?.map(\.number) == [1] && after.waves?.map(\.people) == [10])
      let last = try second.kill()
      try await second.end()

      let third = try KeptRooms(in: last, settings: settings)
      await third.restore()
      #expect(try await report(third.lane).untimed == after.untimed)
      #expect(await effects(third.lane) == 0)
      try await third.end()
    }
  }

  @Test func `bursts of duplicates are searched only while the configuration enables it`()
    async throws
  {
    let studio = try Studio()
    _ = try studio.directory.open(.main)
    _ = await studio.send(chat(0..<100), to: .main, clock: .event)
    #expect(try await report(studio.lane).waves == nil)
    studio.lane.postSettings(settings)
    _ = await studio.send(chat(100..<200), to: .main, clock: .event)
    try await untilBurst(has: 50, studio.lane)
    studio.lane.postSettings(RoomSettings())
    #expect(try await report(studio.lane).waves == nil)
    try await studio.end()
  }

  @Test
  func `highlights are in the report, the room's analysis and the replay, and survive a kill`()
    async throws
  {
    let studio = try Studio(settings: settings)
    _ = try studio.directory.open(.main)
    _ = try await studio.recordings.start(.main, on: studio.lane)
    for part in match() { _ = await studio.send(part, to: .main, clock: .event) }
    let messages = match().joined().count
    func analysis(_ request: StartTaskRequest) async throws -> JSONValue {
      try #require(try await studio.tasks.run(request, reply: { _ in }, progress: { _ in }).result)
    }
    let recording = try await studio.recordings.stop(.main, on: studio.lane)
    let ofRecording = try await analysis(
      StartTaskRequest(kind: .highlights, recording: recording.recording))
    #expect(ofRecording["highlights"]?.arrayValue?.first?["words"]?.arrayValue?.first == "GOAL")
    // The room's search may still be running.
    let room = StartTaskRequest(kind: .highlights, room: "main")
    while try await analysis(room)["highlights"] != ofRecording["highlights"] {
      await Task.yield()
    }
    #expect(try await analysis(room)["messages"]?.integerValue == Int64(messages))
    let live = try #require(try await report(studio.lane).highlights?.first)
    #expect(live.baseline == 1 && live.rate > 5 && live.startedAt > 1_700_000_080_000)
    #expect(live.words.first == "GOAL")

    let replay = try await studio.replay(recording.recording, into: again)
    #expect(replay.digest == recording.digest && replay.digest != "")
    #expect(await effects(studio.lane, again) == 0)
    try await studio.end()
  }

  @Test func `highlights of a chat survive a kill of the daemon`() async throws {
    let path = home.path + "/state"
    let first = try KeptRooms(in: path, settings: settings)
    _ = try first.directory.open(.main)
    for part in match() { await first.send(part) }
    // The search is complete once the last message belongs to a burst that is larger than any
    // before.
    await first.send(chat(9_200..<9_239))
    try await untilBurst(has: 20, first.lane)
    // The results are on disk by then too.
    await first.send([LiveEvent(timestamp: 0, payload: .header(.viewers(count: 1)))])
    let highlights = try #require(try await report(first.lane).highlights)
    #expect(highlights.first?.words.first == "GOAL")
    let copy = try first.kill()
    try await first.end()
    let second = try KeptRooms(in: copy, settings: settings)
    await second.restore()
    #expect(try await report(second.lane).highlights == highlights)
    try await second.end()
  }

  // MARK: All together

  @Test
  func
    `a searched room with a failing recorder and refused sliders survives a kill and replays`()
    async throws
  {
    let disk = SimulatedDisk()
    try disk.makeDirectory("/state")
    try disk.syncDirectory("/")
    var run = try await restored(on: disk)
    _ = try run.directory.open(.main)
    let recording = try await run.recordings.start(.main, on: run.lane).recording
    await run.send(chat(0..<60))
    try await refuse(0.5, as: 1, on: run.lane)
    try await untilBurst(has: 30, run.lane)
    // Some messages are still being searched at the end.
    await run.send(chat(60..<80))
    disk.endProcess()
    try await run.end()
    disk.restart()

    run = try await restored(on: disk)
    try await refuse(0.7, as: 2, on: run.lane)
    try await untilBurst(has: 40, run.lane)
    disk.decide {
      $0.operation == .write && $0.path.contains("/main-") ? .error(EIO) : nil
    }
    await run.send(150..<151)
    while await recorder(run.lane)?.state != .failed { await Task.yield() }
    // The next start completes the recording from the log, up to the point at which the recording
    // failed.
    let recorded = try #require(await run.lane.report(.main)?.features)
    await run.send(chat(80..<100))
    try await untilBurst(has: 50, run.lane)
    // The results are on disk by then too.
    await run.send([LiveEvent(timestamp: 0, payload: .header(.viewers(count: 1)))])
    let live = try #require(await run.lane.report(.main)?.features)
    disk.endProcess()
    try await run.end()
    disk.restart()

    run = try await restored(on: disk)
    let features = try #require(await run.lane.report(.main)?.features)
    #expect(features.chat?.untimed == live.chat?.untimed && live.chat?.total == 101)
    #expect(features.control == live.control && live.control?.failures == ["zoom": "locked"])
    #expect(features.recorder?.own?.failure?.contains("Input/output error") == true)
    var digests: Set<String> = []
    for room in [again, RoomName("twice")!] {
      _ = try run.directory.open(room)
      let replay = Replay(
        try await run.library.files(of: recording), into: room, on: run.lane, speed: nil)
      digests.insert(try await replay.run().digest)
      #expect(await effects(run.lane, room) == 0)
      let played = try #require(await run.lane.report(room)?.features)
      #expect(played.chat?.withoutAnalysis == recorded.chat?.withoutAnalysis)
      #expect(played.control == recorded.control)
    }
    #expect(digests.count == 1 && digests != [""])
    try await run.end()
  }

  private func restored(on disk: SimulatedDisk) async throws -> KeptRooms {
    let run = try KeptRooms(in: "/state", on: disk, settings: settings)
    await run.recordings.open()
    await run.restore()
    return run
  }

  private func recorder(_ lane: HostLane) async -> SingleRecorderReport? {
    await lane.report(.main)?.features.recorder?.own
  }

  /// A controller that refuses the requests of a slider.
  private func refuse(_ value: Double, as request: Int, on lane: HostLane) async throws {
    _ = await lane.act(.control(.controller(.began(controller: request, controls: nil))), in: .main)
    _ = await lane.act(
      .control(.slider(Slider(control: "zoom", phase: .end, value: value))), in: .main)
    _ = await lane.act(
      .control(.outcome(request: request, .refused(reason: "locked"))), in: .main)
    let panel = await lane.report(.main)?.features.control
    #expect(panel?.failures == ["zoom": "locked"] && panel?.pending == nil)
  }

  // MARK: Cooperation

  /// The number of times that work is enqueued on an executor: once at its start, and once per
  /// yield.
  private func turns(
    of body: @escaping @Sendable (WorkExecutor) async throws -> Void
  ) async throws -> (turns: Int, executor: WorkExecutor) {
    let executor = WorkExecutor(width: 1)
    let isDone = Mutex(false)
    let task = Task {
      defer { isDone.withLock { $0 = true } }
      try await body(executor)
    }
    var turns = 0
    while !isDone.withLock({ $0 }) {
      if executor.runNext() { turns += 1 } else { await Task.yield() }
    }
    try await task.value
    return (turns, executor)
  }

  @Test
  func `a long search for bursts yields to other work, and a search in one slice is reported`()
    async throws
  {
    var batch = MessageBatch()
    for number in 0..<1_000 {
      let message = ChatMessage(
        id: "", userID: "", userName: "", text: unlike(number, length: 512))
      let isTaken = batch.append(message, at: 0)
      #expect(isTaken)
    }
    let search = BurstSearch(run: 1, batch: batch, waves: [], newest: 0)
    let honest = try await turns { executor in
      _ = try await ChatAnalysis.live.running(on: executor).search(search)
    }
    let greedy = try await turns { executor in
      try await withTaskExecutorPreference(executor.executor(named: "greedy")) {
        var finder = BurstFinder()
        _ = try await finder.find(search, sliceNanoseconds: .max)
      }
    }
    #expect(honest.turns > 10 && greedy.turns < 5)
    let slice = try #require(honest.executor.longestSlicesByEffect["ChatFeature.analysis"])
    let whole = try #require(greedy.executor.longestSlicesByEffect["greedy"])
    // Compares processor times, because elapsed times depend on the load of the machine.
    #expect(slice > 0 && slice < whole / 4)
  }
}

extension KeptRooms {
  /// Sends events to `main` and waits until they are on disk.
  fileprivate func send(_ events: [LiveEvent]) async {
    _ = await withCheckedContinuation { continuation in
      lane.post(
        RoomDelivery(
          room: .main, events: events, clock: .event,
          receipt: DeliveryReceipt { continuation.resume(returning: ($0, $1)) }))
    }
  }
}

extension ChatReport {
  /// Removes the values that are computed again after a replay.
  fileprivate var withoutAnalysis: ChatReport {
    var report = untimed
    (report.waves, report.unsearched, report.highlights) = (nil, nil, nil)
    return report
  }
}
