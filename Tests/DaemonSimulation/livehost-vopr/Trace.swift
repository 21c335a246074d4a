/// The events of a simulation, line by line. Equal traces have equal digests.
final class Trace: @unchecked Sendable {
  private var hash: UInt64 = 0xcbf2_9ce4_8422_2325
  private let prints: Bool
  private(set) var lines = 0

  /// - Parameter prints: whether each line is printed.
  init(prints: Bool) { self.prints = prints }

  func add(_ text: String) {
    let line = "\(Machine.current.now / 1_000) \(text)"
    for byte in line.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    hash = (hash ^ 10) &* 0x100_0000_01b3
    lines += 1
    if prints { print(line) }
  }

  var digest: String {
    let text = String(hash, radix: 16)
    return String(repeating: "0", count: 16 - text.count) + text
  }
}
