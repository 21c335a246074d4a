/// What was measured on the machine that simulates. It differs from run to run, so that it has no part in whether two
/// reports are equal.
struct Measured<Value: Sendable>: Hashable, Sendable {
  var value: Value

  static func == (left: Self, right: Self) -> Bool { true }
  func hash(into hasher: inout Hasher) {}
}
