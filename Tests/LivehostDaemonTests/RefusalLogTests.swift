import LivehostDaemon
import Logging
import NIOCore
import NIOEmbedded
import Synchronization
import Testing
import UnixSockets

@Suite struct RefusalLogTests {
  /// A simulated client with refusals, a log, and a clock.
  private final class Server: Sendable {
    private struct State {
      var refusals = RefusalCounts()
      var entries: [String] = []
    }

    private let state = Mutex(State())

    /// Records the message of an entry and its fields.
    func log() -> RefusalLog {
      let logger = Logger(noting: { [self] event in
        let fields = ["resource", "count", "user"].compactMap { name in
          event.metadata?[name].map { "\(name)=\($0)" }
        }
        state.withLock {
          $0.entries.append("\(event.message) (\(fields.joined(separator: " ")))")
        }
      })
      return RefusalLog(logger: logger) { [self] in state.withLock { $0.refusals } }
    }

    func refuse(_ resource: RefusedResource, to user: UInt32?, _ count: Int = 1) {
      state.withLock { $0.refusals.add(resource, user: user, count: count) }
    }

    /// Returns the entries since the last call.
    func entries() -> [String] {
      state.withLock { state in
        defer { state.entries = [] }
        return state.entries
      }
    }
  }

  @Test func `refusals are logged as sums, at most once in ten seconds per resource`() {
    let (loop, server) = (EmbeddedEventLoop(), Server())
    let log = server.log()
    log.start(on: loop)
    server.refuse(.ingestConnection, to: 1_000)
    server.refuse(.callLength, to: 1_001, 2)
    loop.advanceTime(by: .seconds(1))
    #expect(
      server.entries() == [
        "connections to the ingest socket beyond ingest.connections: refused once to user 1000 (resource=ingestConnection count=1 user=1000)",
        "calls longer than 16 KiB from users without rights: refused 2 times to user 1001 (resource=callLength count=2 user=1001)",
      ])
    for _ in 0..<1_000 {
      server.refuse(.ingestConnection, to: 1_000)
      loop.advanceTime(by: .milliseconds(9))
      #expect(server.entries() == [])
    }
    loop.advanceTime(by: .seconds(1))
    #expect(
      server.entries() == [
        "connections to the ingest socket beyond ingest.connections: refused 1000 times to user 1000 (resource=ingestConnection count=1000 user=1000)"
      ])
    loop.advanceTime(by: .hours(1))
    #expect(server.entries() == [], "no refusal is logged twice")
    log.stop()
  }

  @Test
  func
    `an entry names the user with the most refusals, and has a user field only for a single user`()
  {
    let (loop, server) = (EmbeddedEventLoop(), Server())
    let log = server.log()
    log.start(on: loop)
    server.refuse(.connection, to: 1_000, 2)
    server.refuse(.connection, to: 1_001, 3)
    server.refuse(.connection, to: nil)
    loop.advanceTime(by: .seconds(1))
    #expect(
      server.entries() == [
        "connections to the control socket beyond control.connections: refused 6 times, most of them to user 1001 (resource=connection count=6)"
      ])
    server.refuse(.monitor, to: nil)
    log.stop()
    #expect(
      server.entries() == [
        "calls with the more flag beyond control.monitors: refused once to users without a separate count (resource=monitor count=1)"
      ])
    server.refuse(.monitor, to: 1_000)
    loop.advanceTime(by: .hours(1))
    #expect(server.entries() == [], "the log has stopped")
  }
}
