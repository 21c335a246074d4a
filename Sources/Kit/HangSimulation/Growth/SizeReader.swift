import Composable

/// Reads the sizes of the collections in the state: once between two changes, for all that ask.
///
/// Belongs to the thread that simulates.
final class SizeReader {
  private(set) var sizes: StateSizes
  /// Reads the sizes of the state; `nil` before there is a screen.
  var look: ((inout StateSizes) -> Void)?
  /// Whether an action may have changed the sizes since the last look.
  private var areOld = true

  /// - Parameter isThorough: see ``StateSizes/init(isThorough:)``.
  init(isThorough: Bool = false, _ look: ((inout StateSizes) -> Void)? = nil) {
    sizes = StateSizes(isThorough: isThorough)
    self.look = look
  }

  /// The sizes may have changed.
  func invalidate() { areOld = true }

  /// Brings ``sizes`` up to date. Returns whether that took a look.
  @discardableResult
  func update() -> Bool {
    guard areOld, let look else { return false }
    look(&sizes)
    areOld = false
    return true
  }
}
