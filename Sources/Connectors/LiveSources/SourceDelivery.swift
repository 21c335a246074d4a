import BatchDelivery
import Glibc
import JSON
package import LiveEvents
package import NIOCore
import NIOPosix
package import RateLimiting
import SystemSupport

/// A source's connection to the daemon, for all its events and status reports. Belongs to one event
/// loop.
///
/// Keeps lines in bounded memory until the daemon acknowledges them, even while the daemon
/// restarts. When that memory is full, the source must stop reading.
package final class SourceDelivery {
  package struct Settings: Sendable {
    /// The path of the daemon's ingest socket.
    package var path: String
    /// The name of the source.
    package var source: String
    /// The platform that the source is connected to, such as `obs`, for the source's status.
    package var platform: String
    /// The default platform of events, such as `twitch`. `nil` if there is none.
    package var eventPlatform: String?
    /// The room of every line. `nil` if each line names its own room.
    package var room: RoomName?
    /// The maximum total size in bytes of lines that wait for acknowledgement.
    package var maximumBytes = 8 << 20
    /// How long the daemon may be unreachable before the source fails. `nil` sets no limit.
    package var patience: Interval? = .seconds(60)

    package init(path: String, source: String, platform: String, room: RoomName? = nil) {
      self.path = path
      self.source = source
      self.platform = platform
      self.room = room
    }
  }

  /// The acknowledgement delay at which the source's status becomes `behind`.
  private static let behind = Interval.seconds(2)
  private static let statusInterval = TimeAmount.seconds(1)
  /// The maximum wait between attempts to connect, short because the daemon is on this machine.
  private static let longestWait = Interval.seconds(4)
  private static let longestAnswer = 64 * 1024

  package let settings: Settings
  package let session: String
  private let eventLoop: any EventLoop
  private var queue: DeliveryQueue
  private var policy = ReconnectPolicy(longest: longestWait)
  private var generator = SystemRandomNumberGenerator()
  private var channel: (any Channel)?
  private var connectedAt = Instant.origin
  /// The time at which the connection was lost.
  private var awaySince: Instant
  private var splitter = LineSplitter(maximumLength: longestAnswer)
  private var statuses: [RoomName: SourceStatus] = [:]
  /// The rooms to which the current status has not been sent yet.
  private var unsent: Set<RoomName> = []
  private var isBehind = false
  private var isPaused = false
  private var isStopped = false
  private var finishing: EventLoopPromise<Void>?
  private var hasAskedForEnd = false
  /// The number of lines that the daemon has rejected on the current connection.
  private var rejectedNow = 0

  /// The number of lines that the daemon has rejected since the start.
  package private(set) var rejected = 0
  /// Called with true when the source must stop reading, and with false when it may read again.
  package var pause: (Bool) -> Void = { _ in }
  /// Called when the daemon has acknowledged more lines.
  package var acknowledged: () -> Void = {}
  /// Called when the daemon is permanently unreachable. Nothing is delivered afterwards.
  package var failed: (SourceError) -> Void = { _ in }

  /// Creates a delivery for use on `eventLoop`, which connects on ``start()``.
  ///
  /// - Parameter session: The name of this run in its batch numbers, which no other run may use.
  package init(_ settings: Settings, session: String, eventLoop: any EventLoop) {
    self.settings = settings
    self.session = session
    self.eventLoop = eventLoop
    queue = DeliveryQueue(session: session, maximumBytes: settings.maximumBytes)
    awaySince = Self.now
  }

  /// The current monotonic time.
  package static var now: Instant {
    Instant(nanoseconds: Int64(MonotonicClock.nanoseconds()))
  }

  /// Converts a monotonic time to milliseconds since 1970.
  package static func wallTime(_ instant: Instant) -> Int {
    WallClock.milliseconds() - Int((now - instant).nanoseconds / 1_000_000)
  }

  /// The number of lines that the daemon has acknowledged.
  package var delivered: Int { queue.delivered }
  /// The number of lines waiting for acknowledgement.
  package var waiting: Int { queue.lines }
  package var isConnected: Bool { channel != nil }

  // MARK: Interface for sources

  /// Connects to the daemon.
  package func start() {
    connect()
    eventLoop.assumeIsolated().scheduleTask(in: Self.statusInterval) { self.tick() }
  }

  /// Queues a line, which is given without its line ending. Call ``flush()`` after the last of
  /// several lines.
  package func deliver(_ line: UnsafeRawBufferPointer) { queue.append(line, at: Self.now) }

  /// Queues `count` lines that belong together, with their line endings.
  package func deliver(lines: [UInt8], count: Int) {
    guard count > 0 else { return }
    queue.append(lines: lines, count: count, at: Self.now)
  }

  /// Writes as many batches as possible, and pauses the source if too many lines remain queued.
  package func flush() {
    write()
    let isFull = queue.isFull()
    guard isFull != isPaused else { return }
    isPaused = isFull
    pause(isFull)
  }

  /// Reports a new status of the source to a room.
  package func report(_ status: SourceStatus, in room: RoomName) {
    guard statuses[room] != status else { return }
    statuses[room] = status
    unsent.insert(room)
    flush()
  }

  package func report(_ gap: SourceGap, in room: RoomName) {
    SourceLine.gap(gap, source: settings.source, room: room).withUnsafeBytes { deliver($0) }
    flush()
  }

  /// Ends the delivery when the daemon has acknowledged all lines, or after `timeout` at the
  /// latest.
  package func finish(within timeout: TimeAmount) -> EventLoopFuture<Void> {
    guard !isStopped else { return eventLoop.makeSucceededVoidFuture() }
    let promise = finishing ?? eventLoop.makePromise(of: Void.self)
    finishing = promise
    eventLoop.assumeIsolated().scheduleTask(in: timeout) { self.stop() }
    flush()
    endIfFinished()
    return promise.futureResult
  }

  /// Asks the daemon for a final answer once all lines are written and acknowledged. The answer
  /// confirms that the last status arrived, since status lines are not acknowledged.
  private func endIfFinished() {
    guard finishing != nil, !hasAskedForEnd, queue.isEmpty, unsent.isEmpty, channel != nil else {
      return
    }
    hasAskedForEnd = true
    send(BatchLine.sync(token: endToken) + [0x0A])
  }

  private var endToken: String { "\(session) end" }

  private func stop() {
    isStopped = true
    channel?.close(promise: nil)
    channel = nil
    finishing?.succeed()
    finishing = nil
  }

  // MARK: The connection to the daemon

  private func connect() {
    guard !isStopped else { return }
    let delivery = NIOLoopBound(self, eventLoop: eventLoop)
    ClientBootstrap(group: eventLoop)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(
            StreamHandler(delivery.value.events, hasHandshake: false))
        }
      }
      .connect(unixDomainSocketPath: settings.path).assumeIsolated().whenComplete { result in
        switch result {
        case .success(let channel): self.opened(channel)
        case .failure(let error): self.refused(error)
        }
      }
  }

  private var events: StreamEvents {
    var events = StreamEvents()
    events.received = { [self] bytes in
      var lines: [JSONValue] = []
      splitter.receive(bytes) { line in
        if let value = try? JSONValue(parsing: Array(line)) { lines.append(value) }
      }
      for line in lines { process(line) }
    }
    events.becameWritable = { [self] in flush() }
    events.drained = { [self] in
      flush()
      endIfFinished()
    }
    events.closed = { [self] in lost($0) }
    return events
  }

  private func opened(_ channel: any Channel) {
    guard !isStopped else {
      channel.close(promise: nil)
      return
    }
    self.channel = channel
    connectedAt = Self.now
    splitter = LineSplitter(maximumLength: Self.longestAnswer)
    rejectedNow = 0
    unsent = Set(statuses.keys)
    hasAskedForEnd = false
    send(
      SourceLine.options(
        room: settings.room, source: settings.source, platform: settings.eventPlatform) + [0x0A])
    flush()
    endIfFinished()
  }

  private func refused(_ error: any Error) {
    if let error = error as? IOError, [EACCES, EPERM].contains(error.errnoCode) {
      fail(.notPermitted(path: settings.path))
    } else {
      retry(ConnectionFailure.text(error))
    }
  }

  private func lost(_ reason: String) {
    guard channel != nil else { return }
    channel = nil
    awaySince = Self.now
    queue.disconnected()
    retry(reason)
  }

  private func retry(_ reason: String) {
    guard !isStopped else { return }
    let now = Self.now
    if let patience = settings.patience, now - awaySince >= patience {
      return fail(.daemonGone(path: settings.path, reason: reason))
    }
    let next = policy.failed(at: now, using: &generator)
    eventLoop.assumeIsolated().scheduleTask(
      in: .nanoseconds(max(0, (next - now).nanoseconds))
    ) { self.connect() }
  }

  private func fail(_ error: SourceError) {
    guard !isStopped else { return }
    stop()
    failed(error)
  }

  private func process(_ answer: JSONValue) {
    guard let type = answer["type"]?.stringValue, ["synced", "applied"].contains(type),
      let token = answer["token"]?.stringValue
    else { return }
    if token == endToken { return stop() }
    guard queue.acknowledge(token: token) else { return }
    policy.receivedUsefulData(at: Self.now, connected: connectedAt)
    let rejected = Int(clamping: answer["rejected"]?.integerValue ?? 0)
    self.rejected += max(0, rejected - rejectedNow)
    rejectedNow = rejected
    acknowledged()
  }

  // MARK: Writing

  private func write() {
    guard let channel, channel.isWritable else { return }
    for room in unsent {
      guard let status = statuses[room] else { continue }
      send(
        SourceLine.state(
          withDelay(status), source: settings.source, platform: settings.platform, room: room,
          at: WallClock.milliseconds()) + [0x0A])
    }
    unsent = []
    while channel.isWritable, let bytes = queue.nextWrite() { send(bytes) }
  }

  private func send(_ bytes: [UInt8]) {
    channel?.writeAndFlush(ByteBuffer(bytes: bytes), promise: nil)
  }

  // MARK: Acknowledgement delay

  private func tick() {
    guard !isStopped else { return }
    eventLoop.assumeIsolated().scheduleTask(in: Self.statusInterval) { self.tick() }
    let wasBehind = isBehind
    isBehind = queue.waitingSince.map { Self.now - $0 >= Self.behind } ?? false
    if isBehind || wasBehind {
      unsent = Set(statuses.keys)
      flush()
    }
  }

  /// Returns `status` with the state `behind` if a live source's lines are not acknowledged in
  /// time.
  private func withDelay(_ status: SourceStatus) -> SourceStatus {
    guard isBehind, status.state == .live, let since = queue.waitingSince else { return status }
    var status = status
    status.state = .behind
    status.behindMilliseconds = Int((Self.now - since).nanoseconds / 1_000_000)
    return status
  }
}
