import FuzzSupport

@testable import Recordings

/// Recovers segments that a program left unclosed, as the next start does. The bytes get no
/// checksums. Zero bytes separate the segments.
final class RecoveryParser: Parser {
  private let recovering: Recovering

  init() throws { recovering = try Recovering() }

  func read(_ bytes: UnsafeBufferPointer<UInt8>) {
    do {
      _ = try recovering.recover(bytes.separated().map { Array($0) })
    } catch {
      fatalError("a recording can be recovered: \(error)")
    }
  }
}
