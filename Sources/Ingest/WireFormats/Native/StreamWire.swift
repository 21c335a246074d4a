import JSON
import LiveEvents

extension StreamState: NativeEvent {
  enum NativeType: String, CaseIterable { case stream }

  var nativeType: NativeType { .stream }

  init(_ type: NativeType, from line: borrowing NativeMembers) throws(RejectionReason) {
    self = try line.choice(.state)
  }

  func write(to object: inout JSONWriter) { object.add("state", rawValue) }
}
