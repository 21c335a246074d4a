/// The client's end of a connection to the daemon. A peer splits the received bytes into messages.
/// A stalled peer reads nothing.
class Peer: @unchecked Sendable {
  let channel: SimulatedChannel
  let simulation: Simulation
  /// The byte that ends a message.
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

  /// Handles a message, which is passed without its end byte.
  func receive(_ message: [UInt8]) {}

  /// Called when all available bytes have been read.
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
      receive(message)
    }
    hasRead()
  }
}
