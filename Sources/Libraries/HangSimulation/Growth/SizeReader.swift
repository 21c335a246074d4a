import Composable

/// Reads the sizes of the state's collections, at most once after each change, for all parts of the
/// simulator that need them.
///
/// Belongs to the simulating thread.
final class SizeReader {
  private(set) var sizes: StateSizes
  /// Reads the sizes of the state; `nil` before a screen exists.
  var look: ((inout StateSizes) -> Void)?
  /// Whether an action may have changed the sizes since the last reading.
  private var areOld = true

  /// - Parameter isThorough: See ``StateSizes/init(isThorough:)``.
  init(isThorough: Bool = false, _ look: ((inout StateSizes) -> Void)? = nil) {
    sizes = StateSizes(isThorough: isThorough)
    self.look = look
  }

  /// Marks the sizes as outdated.
  func invalidate() { areOld = true }

  /// Updates ``sizes`` if they are outdated. Returns whether they were read.
  @discardableResult
  func update() -> Bool {
    guard areOld, let look else { return false }
    look(&sizes)
    areOld = false
    return true
  }
}
