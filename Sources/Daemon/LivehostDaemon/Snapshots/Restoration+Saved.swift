import ControlInterface
import LiveEvents
import Logging
import Platform
import Recordings

extension Restoration {
  /// From what a room is restored.
  struct Saved {
    var snapshot: RoomSnapshot
    var isOlder = false
    /// The size of its file.
    var bytes = 0
    /// The recording that follows, if the snapshot that would say so cannot be read.
    var last: (recording: String, logEnd: LogPosition)?
  }

  /// What is saved of a room, or known from the log, which says more if the room was opened after that.
  func snapshot(of room: RoomName, _ log: LogContents.Room?) async -> Saved? {
    let saved = store.load(room.description)
    var snapshot = saved.snapshot
    if let log, snapshot == nil || snapshot?.log != nil {
      let session = snapshot?.log?.session ?? 0
      guard log.isOpen || session > log.closed ?? 0 else {
        let life = RoomLifetime(room.description)
        store.remove(life, whenGone: { [library] in library.forget(life.name) })
        return nil
      }
      if let opened = log.opened, opened.session > max(session, log.closed ?? 0) {
        snapshot = RoomSnapshot(
          room: room.description, savedAt: opened.time, log: LogPosition(session: opened.session))
      }
    }
    if saved.isOlder,
      let last = await lastRecording(of: room, behind: snapshot?.log, and: log?.closed),
      last.recording != snapshot?.recording?.recording
    {
      if snapshot?.recording == nil {
        logger.warning(
          "room \(room) is restored from its recording, as its newest saved state cannot be read",
          metadata: ["room": "\(room)", "recording": "\(last.recording)"])
      }
      if let snapshot { return Saved(snapshot: snapshot, isOlder: true, last: last) }
      let alone = RoomSnapshot(
        room: room.description, savedAt: WallClock.milliseconds(),
        recording: RecordedPosition(recording: last.recording))
      return Saved(snapshot: alone, isOlder: true)
    }
    if snapshot == nil {
      lose("room \(room) is not restored: none of its saved states can be read", of: room)
      // Nothing is left that the log could be played into.
      library.forget(room.description)
    }
    return snapshot.map { Saved(snapshot: $0, isOlder: saved.isOlder, bytes: saved.bytes) }
  }

  /// The recording of a room that was being written, if it began after what the older of its snapshots has. By what
  /// the recordings say of the log in front of them: the clock may have been set back between two of them.
  private func lastRecording(
    of room: RoomName, behind saved: LogPosition?, and closed: Int?
  ) async -> (recording: String, logEnd: LogPosition)? {
    let known = (try? await recordings.list(room).recordings) ?? []
    var last: (recording: String, logEnd: LogPosition)?
    for recording in known where recording.state == .interrupted {
      guard let end = await logEnd(before: recording.recording), end.session > closed ?? 0,
        saved.map({ end >= $0 }) ?? true, last.map({ end > $0.logEnd }) ?? true
      else { continue }
      last = (recording.recording, end)
    }
    return last
  }

  /// The end of the log in front of a recording; `nil` if its first line does not say.
  private func logEnd(before recording: String) async -> LogPosition? {
    do throws(RecordingError) {
      var reader = RecordingReader(try await library.files(of: recording))
      var steps: [RecordedStep] = []
      while steps.isEmpty, try reader.read(into: &steps) {}
      guard case .change(let text, _) = steps.first else { return nil }
      return RoomChange(text: text)?.after
    } catch {
      return nil
    }
  }
}
