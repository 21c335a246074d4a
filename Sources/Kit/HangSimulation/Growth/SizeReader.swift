import Composable

/// Reads the sizes of the collections in the state: once between two actions, for all that ask.
///
/// Belongs to the thread that simulates.
final class SizeReader {
  private(set) var sizes = StateSizes()
  private let look: (inout StateSizes) -> Void
  /// Whether an action may have changed the sizes since the last look.
  private var areOld = true

  /// - Parameter look: reads the sizes of the state.
  init(_ look: @escaping (inout StateSizes) -> Void) { self.look = look }

  /// An action was reduced.
  func noteAction() { areOld = true }

  /// Brings ``sizes`` up to date.
  func update() {
    guard areOld else { return }
    look(&sizes)
    areOld = false
  }
}
