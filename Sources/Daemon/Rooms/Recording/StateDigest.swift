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
  /// The version of digests. It must be raised when a change of the program gives the same state
  /// another digest, for instance by a new member that is always encoded, or when the same steps
  /// result in another state.
  private static let version = 3

  /// Returns the digest of a screen's state as text: the version, and sixteen hexadecimal digits.
  /// The room's own recorder is left out, because a replay does not have its state.
  ///
  /// - Complexity: O(size of the state).
  package static func text(of screen: HostScreen) -> String {
    var state = screen.store.state
    (state.recorder.own, state.recorder.work) = (nil, nil)
    state.isRecording = state.recorder.isRecording
    // The bookkeeping contains hash tables, whose order differs between processes. Its counts are
    // also in other members, which are shown.
    state.chat?.bookkeeping = ChatBookkeeping()
    // The mean of no values is omitted, so JSON can express all numbers.
    let value = (try? JSONValue(encoding: state)) ?? .null
    var digest = Digest()
    for byte in value.serialized() { digest.add(UInt64(byte)) }
    return "\(version)-\(digest.text)"
  }

  /// Whether a digest has the present version, so that it can be compared. Digests of livehost
  /// 0.1.0 have no version; they were computed from the report of the room.
  package static func isComparable(_ text: String) -> Bool { text.hasPrefix("\(version)-") }
}
