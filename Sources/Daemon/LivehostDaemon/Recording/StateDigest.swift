import ChatFeature
import Composable
import HostFeature
package import HostScreen
import JSON
import LiveEvents
import RecorderFeature
import Wording

/// A digest of a room's state: equal states have equal digests, in every process.
package enum StateDigest {
  /// To be raised when states that were equal before would get another digest, for instance because
  /// of a new member that is always encoded, and when the same steps lead to another state.
  private static let version = 3

  /// The digest of a screen's state without the room's own recorder, which a replay lacks: the
  /// version, and sixteen hexadecimal digits.
  ///
  /// - Complexity: O(size of the state).
  package static func text(of screen: HostScreen) -> String {
    var state = screen.store.state
    (state.recorder.own, state.recorder.work) = (nil, nil)
    state.isRecording = state.recorder.isRecording
    // Hash tables, whose order differs from process to process. What is counted with them is also
    // in members that are shown.
    state.chat?.bookkeeping = ChatBookkeeping()
    // Means of nothing are absent, so all numbers can be expressed in JSON.
    let value = (try? JSONValue(encoding: state)) ?? .null
    var digest = Digest()
    for byte in value.serialized() { digest.add(UInt64(byte)) }
    return "\(version)-\(digest.text)"
  }

  /// Whether a digest can be compared with those made here. Others are of another version: the ones
  /// without a version, by livehost 0.1.0, stand for what it reported of the room.
  package static func isComparable(_ text: String) -> Bool { text.hasPrefix("\(version)-") }
}
