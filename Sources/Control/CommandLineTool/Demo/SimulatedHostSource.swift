import HangSimulation
import LiveEvents
import Simulation
import WireFormats

/// A source that plays the events of a simulated host as lines. Confined to one thread.
final class SimulatedHostSource: ByteSource {
  let descriptor: Int32? = nil
  private(set) var fileBytes = 0
  let fileSize: Int? = nil
  private var host: SimulatedHost
  private let room: RoomName
  private var line: [UInt8] = []

  init(_ host: SimulatedHost, room: RoomName) {
    self.host = host
    self.room = room
  }

  func read(_ body: (UnsafeRawBufferPointer) -> Void) throws(Failure) -> Bool {
    guard let next = host.next() else { return false }
    line.removeAll(keepingCapacity: true)
    NativeEncoder.append(next.event, room: room, to: &line)
    fileBytes += line.count
    line.withUnsafeBytes(body)
    return true
  }
}
