import BenchmarkKit
import Foundation
import HangSimulation
import Simulation

/// Measures the simulator: the whole pipeline, the bundled recording, and the queue alone.
func simulationBenchmarks(_ harness: Harness) async throws {
  if harness.isWanted("sim.pipeline") { try await measurePipeline(harness) }
  if harness.isWanted("sim.recording") { try await measureRecording(harness) }
  if harness.isWanted("sim.queue") { measureQueue(harness) }
}

private let rounds = 7

/// A device on which all work is free, so that only the simulator is measured.
private let freeDevice = "refreshRate: 60\ncosts: {action: 0ms}"

private func scenario(_ text: String) throws -> Scenario {
  var files = ScenarioFiles.disk
  let read = files.read
  files.read = { path in
    path == "config/devices/free.yaml" ? Array(freeDevice.utf8) : read(path)
  }
  return try Scenario(text, SimulationOptions(path: "benchmark.yaml", files: files))
}

/// Measures the whole pipeline, from the generation of events to the classification of turns, with
/// one variant on one device.
private func measurePipeline(_ harness: Harness) async throws {
  FileHandle.standardError.write(Data("measuring sim.pipeline\n".utf8))
  let scenario = try scenario(
    """
    name: flood
    duration: 10s
    devices: [free]
    events:
      - {event: {type: stream, state: live}, at: 0s}
      - {generate: reaction, rate: 60000/s}
      - {generate: chat.message, rate: 20000/s, people: 5000}
      - {generate: viewers, arrival: even, rate: 5000/s}
      - {generate: meter, arrival: even, rate: 10000/s}
      - {generate: stats, arrival: even, rate: 5000/s}
      - {generate: slider, rate: 100/s}
    """)
  var plain = scenario.plan
  plain.findsGrowth = false
  var rates: [Double] = []
  var ratios: [Double] = []
  for round in 0...rounds {
    // Measures both in each round, so that changes of the machine's speed affect both. Swaps the
    // order in every other round, because a run warms up the heap and the caches for the next run.
    let first = try await measured(round.isMultiple(of: 2) ? scenario.plan : plain)
    let second = try await measured(round.isMultiple(of: 2) ? plain : scenario.plan)
    let (growing, other) = round.isMultiple(of: 2) ? (first, second) : (second, first)
    // The first round grows tables and buffers.
    guard round > 0 else { continue }
    rates.append(Double(growing.report.runs[0].events.received) / growing.time)
    ratios.append(growing.work / other.work)
  }
  harness.report(
    "sim.pipeline", Harness.median(rates), "events/s", bar: ">= 1000000 events/s on one core")
  harness.report(
    "sim.pipeline.growth", Harness.median(ratios), "x without findings", bar: "<= 1.1")
}

/// Runs a plan. Returns the report with the elapsed time and the processor time in seconds.
private func measured(
  _ plan: SimulationPlan
) async throws -> (report: SimulationReport, time: Double, work: Double) {
  let (start, ticks) = (Harness.now(), clock())
  let report = try await plan.run().report
  let work = Double(clock() - ticks) / Double(CLOCKS_PER_SEC)
  return (report, Double(Harness.now() - start) / 1e9, work)
}

/// Measures the 463 seconds of the bundled recording with every frame evaluated.
private func measureRecording(_ harness: Harness) async throws {
  FileHandle.standardError.write(Data("measuring sim.recording\n".utf8))
  let scenario = try scenario(
    """
    name: recording
    duration: 464s
    devices: [free]
    events:
      - recording: config/recordings/chat-burst.irc.gz
    """)
  var times: [Double] = []
  for round in 0...rounds {
    let start = Harness.now()
    let report = try await simulate(scenario).report
    keep(report)
    if round > 0 { times.append(Double(Harness.now() - start) / 1e6) }
  }
  harness.report("sim.recording", Harness.median(times), "ms", bar: "<= 250 ms")
}

/// Measures the queue and a plain array heap alternately.
private func measureQueue(_ harness: Harness) {
  FileHandle.standardError.write(Data("measuring sim.queue\n".utf8))
  let pending = 10_000
  let steps = 500_000
  var ratios: [Double] = []
  var rates: [Double] = []
  for _ in 0..<rounds {
    var random = SeededGenerator(seed: 1)
    var plain = PlainHeap()
    for number in 0..<pending { plain.push(Int64(random.integer(in: 0...1_000_000)), number) }
    let plainStart = Harness.now()
    for _ in 0..<steps {
      let (time, number) = plain.pop()
      plain.push(time + Int64(random.next() >> 44), number)
    }
    let plainTime = Harness.now() - plainStart
    keep(plain)

    random = SeededGenerator(seed: 1)
    var queue = EventQueue<Int>()
    for number in 0..<pending {
      queue.push(number, at: VirtualTime(nanoseconds: Int64(random.integer(in: 0...1_000_000))))
    }
    let start = Harness.now()
    for _ in 0..<steps {
      guard let (time, number) = queue.pop() else { break }
      queue.push(
        number, at: VirtualTime(nanoseconds: time.nanoseconds + Int64(random.next() >> 44)))
    }
    let time = Harness.now() - start
    keep(queue)
    ratios.append(Double(plainTime) / Double(time))
    rates.append(Double(steps) / Double(time) * 1e9)
  }
  harness.report("sim.queue", Harness.median(rates), "events/s")
  harness.report("sim.queue.ratio", Harness.median(ratios), "x plain heap", bar: ">= 0.8")
}

/// A straightforward binary heap of entries in an array.
private struct PlainHeap {
  private var entries: [(time: Int64, sequence: UInt64, number: Int)] = []
  private var sequence: UInt64 = 0

  mutating func push(_ time: Int64, _ number: Int) {
    sequence += 1
    entries.append((time, sequence, number))
    var index = entries.count - 1
    while index > 0 {
      let parent = (index - 1) / 2
      guard isBefore(index, parent) else { return }
      entries.swapAt(index, parent)
      index = parent
    }
  }

  mutating func pop() -> (time: Int64, number: Int) {
    entries.swapAt(0, entries.count - 1)
    let last = entries.removeLast()
    var index = 0
    while true {
      var child = 2 * index + 1
      guard child < entries.count else { break }
      if child + 1 < entries.count, isBefore(child + 1, child) { child += 1 }
      guard isBefore(child, index) else { break }
      entries.swapAt(index, child)
      index = child
    }
    return (last.time, last.number)
  }

  private func isBefore(_ left: Int, _ right: Int) -> Bool {
    (entries[left].time, entries[left].sequence) < (entries[right].time, entries[right].sequence)
  }
}
