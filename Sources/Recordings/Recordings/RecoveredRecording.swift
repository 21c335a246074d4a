import LiveEvents

extension RecordingRow {
  /// Returns the catalogue's row for a recording whose segments were examined.
  ///
  /// - Parameters:
  ///   - scans: the contents of the segments that were read, in order.
  ///   - damage: the known damage, by segment number.
  static func recovered(
    _ name: String, _ known: RecordingRow?, _ segments: [SegmentRow], _ scans: [SegmentScan],
    _ damage: [Int: Damage] = [:]
  ) -> RecordingRow {
    let header = scans.lazy.compactMap(\.header).first
    // If all segments of a damaged recording were read, its earlier state is obsolete.
    let isObsolete =
      known?.state == RecordingState.damaged.rawValue && scans.count == segments.count
    let known = isObsolete ? nil : known
    var row =
      known
      ?? RecordingRow(
        name: name, room: header?.room ?? RecordingName.room(name),
        state: RecordingState.recording.rawValue,
        startedAt: header?.startedAt ?? RecordingName.startedAt(name))
    if let end = scans.last?.end, let state = end.state {
      row.state = state.rawValue
      row.reason = end.reason
      row.endedAt = end.endedAt
      row.digest = end.digest
    }
    if row.state == RecordingState.recording.rawValue {
      row.state = RecordingState.interrupted.rawValue
    }
    var before: SegmentRow?
    for segment in segments {
      let number = (before?.number ?? 0) + 1
      if segment.number != number {
        row.markDamaged(Damage(segment: number, .missing))
      } else if segment.isDamaged {
        row.markDamaged(
          damage[number] ?? Damage(segment: number, lastGoodLine: segment.lastLine))
      } else if !LineChain.leads(before?.chain, to: segment.previous) {
        row.markDamaged("segment \(number) does not continue the previous segment")
      } else {
        before = segment
        continue
      }
      return row
    }
    if let before, let last = scans.last, last.isContinued, last.chain == before.chain {
      row.markDamaged(Damage(segment: before.number + 1, .missing))
    }
    return row
  }
}
