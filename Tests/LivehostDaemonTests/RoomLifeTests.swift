import CAllocationCounter
import LiveEvents
import Rooms
import Testing
import WireFormats

/// What closed rooms leave in memory.
///
/// The time limit only ends a hang: a loaded machine may take minutes.
@Suite(.timeLimit(.minutes(15))) struct RoomLifeTests {
  /// Opens and closes rooms while a request and its timeout are in flight in each.
  private func openAndClose(_ rooms: Range<Int>, in studio: Studio) async throws {
    for number in rooms {
      let room = try #require(RoomName("room-\(number)"))
      _ = try studio.directory.open(room)
      _ = await studio.lane.act(
        .control(.controller(.began(controller: 1, controls: nil))), in: room)
      let slide = Slider(control: "zoom", phase: .end, value: 0.5)
      _ = await studio.send(
        [LiveEvent(timestamp: 1_000, payload: .control(.slider(slide)))], to: room, clock: .event)
      if number.isMultiple(of: 500) {
        let effects = await studio.lane.metrics().first { $0.room == room.description }?.effects
        #expect(effects == 2)
      }
      #expect(await studio.directory.close(room))
    }
  }

  @Test func `2,000 rooms that close while effects run leave nothing in memory`() async throws {
    // Far longer than a room is open. The runtime keeps about 500 bytes of a cancelled sleep until
    // its time has passed.
    var settings = RoomSettings()
    settings.requestTimeout = .milliseconds(20)
    let studio = try Studio(settings: settings)
    // Cancelled sleeps throw errors.
    observe_thrown_errors(0)
    defer { observe_thrown_errors(1) }
    // The first rooms allocate memory that stays: tables, caches and pools.
    try await openAndClose(0..<500, in: studio)
    let before = Int(allocated_bytes())
    try await openAndClose(500..<2_500, in: studio)
    #expect(await studio.lane.metrics().isEmpty)
    var growth = Int(allocated_bytes()) - before
    // A room takes about 100 KB, and an effect several blocks of a few hundred bytes. On a busy
    // machine, sleeps end late. Their memory is freed while more rooms open and close, but a leak
    // grows with each room.
    var next = 2_500
    while growth >= 400 << 10, next < 10_000 {
      try await openAndClose(next..<next + 100, in: studio)
      next += 100
      growth = Int(allocated_bytes()) - before
    }
    #expect(growth < 400 << 10, "\(growth) bytes")
    try await studio.end()
  }
}
