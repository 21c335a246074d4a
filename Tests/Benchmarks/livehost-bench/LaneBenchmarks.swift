import BenchmarkKit
import Foundation
import Ingest
import LiveEvents
import NIOCore
import NIOPosix
import Rooms

/// Measures four rooms with decoded events at full speed, alternately on one lane and on two lanes.
func laneBenchmarks(_ harness: Harness) async throws {
  guard harness.isWanted("lanes.two") else { return }
  FileHandle.standardError.write(Data("measuring lanes.two\n".utf8))
  let events = DecodingWork(MessageLines(count: 50_000)).events()
  let lanes = [try LaneGroup(1), try LaneGroup(2)]
  var rates: [[Double]] = [[], []]
  // Rounds are long because the awaited result comes with a frame, whose delay would dominate short
  // rounds.
  let repeats = 20
  let count = events.reduce(0) { $0 + $1.count } * repeats * lanes[0].rooms.count
  for round in 0..<10 {
    for (index, group) in lanes.enumerated() {
      let time = await group.apply(events, times: repeats)
      // The first two rounds grow tables and buffers.
      if round >= 2 { rates[index].append(Double(count) / Double(time) * 1e9) }
    }
  }
  harness.report("lanes.one", Harness.median(rates[0]), "events/s")
  harness.report(
    "lanes.two", Harness.median(zip(rates[0], rates[1]).map { $1 / $0 }), "x one",
    bar: ">= 1.6 x, with two cores free")
  for group in lanes { try await group.stop() }
}

private final class LaneGroup {
  let rooms = (0..<4).compactMap { RoomName("room-\($0)") }
  private let group: MultiThreadedEventLoopGroup
  private let directory: RoomDirectory
  private let router: EventRouter

  init(_ count: Int) throws {
    group = MultiThreadedEventLoopGroup(numberOfThreads: count)
    let lanes = group.makeIterator().enumerated().map { index, loop in
      guard let loop = loop as? any EventLoop & NIOSerialEventLoopExecutor else {
        preconditionFailure("SwiftNIO's event loops are serial executors")
      }
      return HostLane(index: index, eventLoop: loop, settings: RoomSettings())
    }
    directory = RoomDirectory(lanes: lanes, maximumRooms: rooms.count)
    router = EventRouter(directory: directory)
  }

  /// Sends all events several times to every room. Returns the time until they were applied, in
  /// nanoseconds.
  func apply(_ events: [[LiveEvent]], times: Int) async -> UInt64 {
    let start = Harness.now()
    await withTaskGroup(of: Void.self) { waits in
      for _ in 0..<times {
        for block in events {
          for room in rooms { router.deliver(RoomDelivery(room: room, events: block)) }
        }
      }
      for room in rooms {
        waits.addTask { [router] in
          await withCheckedContinuation { applied in
            router.deliver(
              RoomDelivery(
                room: room, events: [], receipt: DeliveryReceipt { _, _ in applied.resume() }))
          }
        }
      }
    }
    return Harness.now() - start
  }

  func stop() async throws {
    await directory.closeAll()
    try await group.shutdownGracefully()
  }
}
