import LiveEvents
import Locking
import SystemSupport

/// The recordings as anybody may list them, without a visit to the writer's thread: that one
/// acknowledges, and strangers list as often as they like.
///
/// The writer's thread notes each change before it answers whoever made it.
final class RecordingIndex: Sendable {
  private struct Contents {
    /// Oldest first; `nil` until the catalogue was read.
    var recordings: [RecordingSummary]?
    /// Newer figures of those that are being written, by name.
    var running: [String: RecordingSummary] = [:]
  }

  private let contents = Guarded(Contents())
  private let failure = Guarded<PresentFailure?>(nil)

  /// Why the log that all rooms share cannot be written at present.
  var logFailure: PresentFailure? { failure.withLock { $0 } }

  /// Notes that the log could not be written, or that it can be written again.
  func note(logFailure reason: String?) {
    failure.withLock { failure in
      failure = reason.map {
        PresentFailure(reason: $0, since: failure?.since ?? WallClock.milliseconds())
      }
    }
  }

  /// Takes what the catalogue holds.
  func load(_ recordings: [RecordingSummary]) {
    contents.withLock { $0.recordings = recordings.sorted(by: RecordingSummary.isOlder) }
  }

  /// Notes a new or changed recording.
  ///
  /// - Complexity: O(1) while it is being written; otherwise O(recordings).
  func note(_ recording: RecordingSummary) {
    contents.withLock { contents in
      if recording.state == .recording {
        let isKnown = contents.running.updateValue(recording, forKey: recording.name) != nil
        if isKnown { return }
      } else {
        contents.running[recording.name] = nil
      }
      guard var recordings = contents.recordings else { return }
      contents.recordings = nil  // so that a change does not copy
      let index = recordings.firstIndex { !RecordingSummary.isOlder($0, recording) }
      if let index, recordings[index].name == recording.name {
        recordings[index] = recording
      } else {
        recordings.insert(recording, at: index ?? recordings.count)
      }
      contents.recordings = recordings
    }
  }

  /// Notes that a recording was deleted.
  ///
  /// - Complexity: O(recordings).
  func remove(_ name: String) {
    contents.withLock { contents in
      contents.running[name] = nil
      contents.recordings?.removeAll { $0.name == name }
    }
  }

  /// How many are damaged; 0 until the catalogue was read.
  ///
  /// - Complexity: O(recordings), outside the lock.
  var damagedCount: Int {
    contents.withLock { $0.recordings }?.count { $0.state == .damaged } ?? 0
  }

  /// The newest recordings; `nil` until the catalogue was read.
  ///
  /// - Parameters:
  ///   - room: only those of this room; `nil` for all rooms.
  ///   - before: only those that are older than the recording of this name.
  ///   - limit: how many at most.
  /// - Complexity: O(recordings), outside the lock.
  func page(room: String?, before: String?, limit: Int) -> RecordingPage? {
    let (all, running) = contents.withLock { ($0.recordings, $0.running) }
    guard let all else { return nil }
    let end = before.map { name in all.firstIndex { $0.name == name } ?? 0 } ?? all.count
    var page = RecordingPage()
    for recording in all[..<end].reversed() where room == nil || recording.room == room {
      if page.recordings.count < limit {
        page.recordings.append(running[recording.name] ?? recording)
      } else {
        page.older += 1
      }
    }
    page.recordings.reverse()
    return page
  }
}

/// Some of the recordings, oldest first.
package struct RecordingPage: Sendable, Equatable {
  package var recordings: [RecordingSummary] = []
  /// How many older ones there are.
  package var older = 0
}

extension RecordingSummary {
  /// The order of recordings.
  fileprivate static func isOlder(_ left: RecordingSummary, _ right: RecordingSummary) -> Bool {
    (left.startedAt, left.name) < (right.startedAt, right.name)
  }
}
