import LiveEvents
import Locking
import SystemSupport

/// The list of recordings, for all threads except the writer's. Clients may list recordings as
/// often as they like, so listing must not delay the writer's thread, on which acknowledgements
/// depend.
///
/// The writer's thread enters each change before it reports the change as done.
final class RecordingIndex: Sendable {
  private struct Contents {
    /// Oldest first; `nil` until the catalogue was read.
    var recordings: [RecordingSummary]?
    /// The newest figures of recordings that are being written, by name.
    var running: [String: RecordingSummary] = [:]
  }

  private let contents = Guarded(Contents())
  private let failure = Guarded<PresentFailure?>(nil)

  /// Why the write-ahead log cannot be written at present.
  var logFailure: PresentFailure? { failure.withLock { $0 } }

  /// Sets why the log cannot be written; `nil` if it can.
  func set(logFailure reason: String?) {
    failure.withLock { failure in
      failure = reason.map {
        PresentFailure(reason: $0, since: failure?.since ?? WallClock.milliseconds())
      }
    }
  }

  /// Replaces the list by the contents of the catalogue.
  func load(_ recordings: [RecordingSummary]) {
    contents.withLock { $0.recordings = recordings.sorted(by: RecordingSummary.isOlder) }
  }

  /// Enters a new or changed recording.
  ///
  /// - Complexity: O(1) while it is being written; otherwise O(recordings).
  func enter(_ recording: RecordingSummary) {
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

  /// Removes a deleted recording.
  ///
  /// - Complexity: O(recordings).
  func remove(_ name: String) {
    contents.withLock { contents in
      contents.running[name] = nil
      contents.recordings?.removeAll { $0.name == name }
    }
  }

  /// The number of damaged recordings; 0 until the catalogue was read.
  ///
  /// - Complexity: O(recordings), outside the lock.
  var damagedCount: Int {
    contents.withLock { $0.recordings }?.count { $0.state == .damaged } ?? 0
  }

  /// Returns the newest recordings; `nil` until the catalogue was read.
  ///
  /// - Parameters:
  ///   - room: the room whose recordings are returned; `nil` for all rooms.
  ///   - before: a recording; only older ones are returned.
  ///   - limit: the largest number of recordings.
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

/// A part of the list of recordings, oldest first.
package struct RecordingPage: Sendable, Equatable {
  package var recordings: [RecordingSummary] = []
  /// The number of older recordings.
  package var older = 0
}

extension RecordingSummary {
  /// Whether a recording precedes another one in the list.
  fileprivate static func isOlder(_ left: RecordingSummary, _ right: RecordingSummary) -> Bool {
    (left.startedAt, left.name) < (right.startedAt, right.name)
  }
}
