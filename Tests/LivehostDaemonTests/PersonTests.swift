import ControlInterface
import LiveEvents
import LivehostDaemon
import Rooms
import TestSupport
import Testing
import WireFormats

/// People's cards and the host's notes after a restart.
@Suite(.timeLimit(.minutes(1))) struct PersonTests {
  private let home = TemporaryDirectory()

  private func message(_ number: Int) -> LiveEvent.Payload {
    .chat(.message(ChatMessage(id: "m\(number)", userID: "u1", userName: "Ann", text: "hi")))
  }

  private func card(_ rooms: KeptRooms) async throws -> PersonCardReport {
    try #require(await rooms.lane.report(.main)?.features.chat?.person)
  }

  @Test func `a note and an open card survive kill -9, and the card follows later messages`()
    async throws
  {
    let first = try KeptRooms(in: home.path + "/first")
    _ = try first.directory.open(.main)
    let person = PersonReference(id: "u1", platform: "twitch")
    let note = try #require(PersonNote(about: person, "asks for songs"))
    for event in [
      message(1), .chat(.delete(messageID: "m1")), .chat(.openPerson(person)),
      .chat(.notePerson(note)),
    ] {
      _ = try await first.lane.act(event, in: .main).get()
    }
    let before = try await card(first)
    #expect(before.note == "asks for songs" && before.moderations.map(\.kind) == [.delete])
    let copy = try first.kill()
    try await first.end()

    let second = try KeptRooms(in: copy)
    await second.restore()
    #expect(try await card(second) == before)
    // Scrolling releases the message from the throttle.
    for event in [message(2), .chat(.scroll(.back))] {
      _ = try await second.lane.act(event, in: .main).get()
    }
    let after = try await card(second)
    #expect(after.messages == 2 && after.newest.map(\.id) == ["m2"])
    try await second.end()
  }
}
