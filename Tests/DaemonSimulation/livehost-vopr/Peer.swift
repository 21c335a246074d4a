/// The other end of a connection to the daemon: takes what is sent to it, message by message. It may stall, and reads
/// nothing then.
class Peer: @unchecked Sendable {
  let channel: SimulatedChannel
  let simulation: Simulation
  /// The byte at which a message ends.
  private let end: UInt8
  private var incoming: [UInt8] = []
  private(set) var isStalled = false
  private(set) var hasLeft = false

  init(_ channel: SimulatedChannel, _ simulation: Simulation, messagesEndWith end: UInt8) {
    self.channel = channel
    self.simulation = simulation
    self.end = end
    channel.onReadable = { [weak self] in self?.read() }
  }

  /// Takes a message, without its end.
  func take(_ message: [UInt8]) {}

  /// Called when there is nothing more to read at present.
  func hasRead() {}

  func stall(_ nanoseconds: UInt64) {
    isStalled = true
    Machine.current.after(nanoseconds) { [weak self] in
      self?.isStalled = false
      self?.read()
    }
  }

  func abandon() {
    hasLeft = true
    channel.abandon()
  }

  private func read() {
    guard simulation.isAlive, !isStalled, !hasLeft else { return }
    incoming += channel.read(atMost: 64 << 10)
    while let index = incoming.firstIndex(of: end) {
      let message = Array(incoming[..<index])
      incoming.removeFirst(index + 1)
      take(message)
    }
    hasRead()
  }
}
