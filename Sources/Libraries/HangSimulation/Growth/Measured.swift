/// A value that was measured on the simulating machine. It differs from run to run, so it does not
/// affect the equality of two reports.
struct Measured<Value: Sendable>: Hashable, Sendable {
  var value: Value

  static func == (left: Self, right: Self) -> Bool { true }
  func hash(into hasher: inout Hasher) {}
}
