/// A value that was measured on the simulating machine. The value differs from run to run, so it is
/// ignored when two reports are compared for equality.
struct Measured<Value: Sendable>: Hashable, Sendable {
  var value: Value

  static func == (left: Self, right: Self) -> Bool { true }
  func hash(into hasher: inout Hasher) {}
}
