import HostScreen
import Ingest
import LiveEvents
import NIOCore
import RateLimiting
import Recordings
import ViewGraph
import WireFormats

/// How a room takes deliveries, and answers their senders.
extension Room {
  /// How many frames are drawn between two events of a room that follows time stamps. After that
  /// many only clocks move on the screen, and the gap may last for years.
  private static let framesInGap = 64
  /// How much of a delivery that follows time stamps is taken at once, in events and in
  /// milliseconds of their time, since each frame in it is drawn.
  private static let partOfEvents = 512
  private static let partOfTime: Timestamp = 10_000

  /// Takes a delivery, or the part of it that begins at `start`: one or more events, all of one
  /// sender, in order. Returns where the next part begins, or `nil` once all is taken; the room
  /// must get nothing else before the next part.
  func receive(_ delivery: RoomDelivery, from start: Int = 0, now: NIODeadline) -> Int? {
    lastDelivery = now
    activity.beginReducing(trace, in: name)
    if start == 0 {
      if replayOffset == nil { clock.follow(delivery.clock, machine: now.machineTime) }
      for (reason, count) in delivery.rejections.byReason { screen.reject(reason, count) }
      rejectedOfDelivery = 0
    }
    let rejectedBefore = screen.counts.rejected
    var end = delivery.events.count
    switch clock.source {
    case _ where delivery.position != nil: takeBatch(delivery, now)
    case _ where replayOffset != nil: take(delivery, from: start)
    case .arrival:
      clock.advance(to: clock.time(machine: now.machineTime))
      take(delivery, from: start)
    case .event:
      end = Self.endOfPart(delivery.events, from: start)
      takeByTimestamp(delivery, start..<end)
    }
    rejectedOfDelivery += screen.counts.rejected - rejectedBefore
    guard end == delivery.events.count else {
      log?.handOver()
      return end
    }
    finish(delivery)
    return nil
  }

  private static func endOfPart(_ events: [LiveEvent], from start: Int) -> Int {
    guard start < events.count else { return start }
    let last = events[start].timestamp.addingReportingOverflow(partOfTime).partialValue
    let part = events[start...].prefix(partOfEvents)
    return part.dropFirst().firstIndex { $0.timestamp > last } ?? part.endIndex
  }

  /// Tells the sender of a delivery that all of it is taken, now or later.
  private func finish(_ delivery: RoomDelivery) {
    let receipt = delivery.receipt
    logRejections()
    log?.count(bytes: receipt.byteCount)
    receipt.markRejected(rejectedOfDelivery)
    // The sender may continue now or, if the disk does not keep up, as soon as it does: also with the
    // frames that the times of its events caused.
    whenLogKeepsUp { receipt.markConsumed() }
    if receipt.wantsAcknowledgement {
      waiting.append(receipt)
      drawIfUntimed()
    }
    log?.handOver()
  }

  /// Draws at once where no timer will: only events, or the steps of a recording, move the time of
  /// a room that follows them.
  func drawIfUntimed() {
    if replayOffset != nil {
      drawFrame(at: clock.now)
    } else if clock.source == .event {
      drawFrame(at: grid.frame(after: clock.now))
    }
  }

  /// Takes a batch of a source, unless the room holds it already, in one step: its events, its position, and what is
  /// logged of both. It belongs to one instant, whatever the time stamps of its events say.
  private func takeBatch(_ delivery: RoomDelivery, _ now: NIODeadline) {
    guard let position = delivery.position else { return }
    guard !known.holds(position) else { return screen.reject(.duplicate, delivery.events.count) }
    if replayOffset == nil {
      switch clock.source {
      case .arrival: clock.advance(to: clock.time(machine: now.machineTime))
      case .event:
        for event in delivery.events { clock.advance(to: clock.time(of: event.timestamp)) }
      }
    }
    take(delivery, position)
  }

  private func take(
    _ delivery: RoomDelivery, from start: Int = 0, _ position: BatchPosition? = nil
  ) {
    let events = delivery.events[start...]
    // Those that were taken, in a row; nearly always all of them.
    var taken: [ArraySlice<LiveEvent>] = []
    var first = events.startIndex
    var refused = 0
    for index in events.indices {
      let event = events[index]
      let isRepeated = !known.take(event, at: clock.now)
      if isRepeated {
        screen.reject(.duplicate, 1)
      } else {
        screen.receive(consume event, at: clock.now)
      }
      guard isRepeated || screen.refusedCount > refused else { continue }
      taken.append(events[first..<index])
      first = index + 1
      refused = screen.refusedCount
    }
    taken.append(events[first...])
    if let position {
      let recorded = RecordedBatchPosition(
        source: position.source, sequence: position.sequence,
        events: taken.reduce(0) { $0 + $1.count })
      known.note(recorded)
      log?.addChange(RoomChange(position: recorded), at: clock.now)
    }
    for slice in taken { log?.add(slice, at: clock.now) }
    screen.reduce()
  }

  private func takeByTimestamp(_ delivery: RoomDelivery, _ part: Range<Int>) {
    let events = delivery.events
    for index in part {
      let event = events[index]
      let instant = clock.time(of: event.timestamp)
      guard known.take(event, at: max(instant, clock.now)) else {
        screen.reject(.duplicate, 1)
        continue
      }
      // A frame shows all events of its instant, and is never earlier than the event that it shows.
      var frames = 0
      while frames < Self.framesInGap, let due = screen.nextFrame, max(due, clock.now) < instant {
        drawFrame(at: max(due, clock.now))
        frames += 1
      }
      clock.advance(to: instant)
      screen.receive(event, at: instant)
      if screen.refusedCount == 0 { log?.add(events[index...index], at: instant) }
      screen.reduce()
    }
  }
}
