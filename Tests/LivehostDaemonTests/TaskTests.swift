import ControlInterface
import LivehostDaemon
import Synchronization
import Testing

@Suite struct TaskTests {
  @Test(
    arguments: [(0, 1, 1), (7, 7, 7), (1_000_000, 1_000_000, 100)])
  func `the progress of a task is reported at most a hundred times, plus its end`(
    total: Int, steps: Int, told: Int
  ) async throws {
    let percents = Mutex<[Int?]>([])
    _ = try await TaskRegistry().run(
      .spam, on: "main", onProgress: { _, percent in percents.withLock { $0.append(percent) } }
    ) { progress in
      for step in 1...steps { progress.report(min(step, total), of: total) }
    }
    #expect(percents.withLock { $0.count } == told)
    #expect(percents.withLock { $0.last } == 100)
  }

  @Test
  func `the progress of a task without a total is reported once a second, without a percentage`()
    async throws
  {
    let percents = Mutex<[Int?]>([])
    let time = Mutex<UInt64>(0)
    let registry = TaskRegistry { time.withLock { $0 } }
    _ = try await registry.run(
      .spam, on: "main", onProgress: { _, percent in percents.withLock { $0.append(percent) } }
    ) { progress in
      // Ten seconds, in steps of a tenth of a second.
      for step in 0..<100 {
        progress.report(step, of: nil)
        time.withLock { $0 += 100_000_000 }
      }
    }
    #expect(percents.withLock { $0 } == Array(repeating: nil, count: 10))
  }

  @Test func `the progress of a task never exceeds its total, even if the total was too low`()
    async throws
  {
    let percents = Mutex<[Int?]>([])
    _ = try await TaskRegistry().run(
      .spam, on: "main", onProgress: { _, percent in percents.withLock { $0.append(percent) } }
    ) { progress in
      for done in [10, 20, 25] { progress.report(done, of: 20) }
    }
    #expect(percents.withLock { $0 } == [50, 100])
  }

  @Test func `the end of a task is reported with its result`() async throws {
    struct Broken: Error {}
    let ends = Mutex<[TaskEnd]>([])
    let time = Mutex<UInt64>(0)
    let registry = TaskRegistry { time.withLock { $0 } }
    func run(_ body: @escaping @Sendable () async throws -> Void) async {
      _ = try? await registry.run(
        .chatters, on: "main", onProgress: { _, _ in },
        onEnd: { end in ends.withLock { $0.append(end) } }
      ) { _ in
        time.withLock { $0 += 5_000 }
        try await body()
      }
    }
    await run {}
    await run { throw CancellationError() }
    await run { throw ControlError.noSuchRecording("x") }
    let told = ends.withLock { $0 }
    #expect(
      told.map(\.result) == [.done, .cancelled, .failed("NoSuchRecording (recording \"x\")")])
    #expect(told.map(\.task) == ["chatters-1", "chatters-2", "chatters-3"])
    #expect(told.map(\.nanoseconds) == [5_000, 5_000, 5_000])
  }

  @Test func `tasks are listed in the order of their start`() async throws {
    let registry = TaskRegistry()
    let kinds: [TaskKind] = [.highlights, .spam, .chatters]
    var tasks: [Task<Void, any Error>] = []
    for kind in kinds {
      tasks.append(
        Task {
          _ = try await registry.run(kind, on: "main", onProgress: { _, _ in }) { _ in
            while true {
              try Task.checkCancellation()
              await Task.yield()
            }
          }
        })
      while registry.reports.count < tasks.count { await Task.yield() }
    }
    #expect(registry.reports.map(\.kind) == kinds)
    for task in tasks { task.cancel() }
    for task in tasks { _ = await task.result }
  }

  @Test func `a running task is listed and can be cancelled by name`() async throws {
    let registry = TaskRegistry()
    let (started, began) = AsyncStream.makeStream(of: Void.self)
    let task = Task {
      try await registry.run(.highlights, on: "main", onProgress: { _, _ in }) { progress in
        progress.report(1, of: 2)
        began.finish()
        while true {
          try Task.checkCancellation()
          await Task.yield()
        }
      }
    }
    for await _ in started {}
    while registry.reports.first?.percent != 50 { await Task.yield() }
    let report = try #require(registry.reports.first)
    #expect(report.subject == "main")
    #expect(!registry.cancel("other-1"))
    #expect(registry.cancel(report.task))
    await #expect(throws: ControlError.taskCancelled(report.task)) { _ = try await task.value }
    #expect(registry.reports.isEmpty)
  }

  @Test func `a task ends when the client that started it disconnects`() async throws {
    let registry = TaskRegistry()
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await registry.run(.spam, on: "main", onProgress: { _, _ in }) { _ in
        while true {
          try Task.checkCancellation()
          await Task.yield()
        }
      }
    }
    await #expect(throws: CancellationError.self) { _ = try await task.value }
    #expect(registry.reports.isEmpty)
  }
}
