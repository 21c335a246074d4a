import FuzzSupport

@testable import Recordings

/// Segments of a recording, byte by byte, as a program that ended without closing them may have left them, recovered
/// as at the next start. Zero bytes separate the segments.
final class RecoveryParser: Parser {
  private let recovering: Recovering

  init() throws { recovering = try Recovering() }

  func read(_ bytes: UnsafeBufferPointer<UInt8>) {
    do {
      _ = try recovering.recover(bytes.separated().map { Array($0) })
    } catch {
      fatalError("a recording is recovered: \(error)")
    }
  }
}
