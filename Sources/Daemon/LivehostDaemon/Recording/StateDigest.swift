import ControlInterface
package import HostScreen
import JSON
import Simulation

extension HostScreen {
  /// A number that stands for all that `GetRoom` tells of the room's features, but for the room's own
  /// recorder: equal states have equal digests, in every run. Sixteen hexadecimal digits.
  ///
  /// - Complexity: O(size of the state).
  package var stateDigest: String {
    let report = RoomReport(self, room: "", newestMessages: .max, withoutOwnRecorder: true)
    // Means of nothing are absent, so there is no number that JSON lacks.
    let features = (try? JSONValue(encoding: report.features)) ?? .null
    let value: JSONValue = ["features": features, "phase": .string(report.phase.rawValue)]
    var digest = Digest()
    for byte in value.serialized() { digest.add(UInt64(byte)) }
    return digest.text
  }
}
