import JSON

/// A position in the log that all rooms share: behind a batch of one room.
package struct LogPosition: Sendable, Codable, Equatable, Comparable {
  /// A room has a new session each time that it begins to be logged. Sessions of all rooms and all runs are numbered
  /// in the order in which they began.
  package let session: Int
  /// How many batches of the session precede it.
  package var batch = 0

  package init(session: Int, batch: Int = 0) { (self.session, self.batch) = (session, batch) }

  package static func < (left: LogPosition, right: LogPosition) -> Bool {
    (left.session, left.batch) < (right.session, right.batch)
  }
}

/// Tells whose the lines behind it are, up to the next mark. It is the text of a change, the first of a batch.
///
/// Where it neither begins a life of its room nor continues what was logged before, it relies on a snapshot of the
/// room that was taken just before it.
package struct LogMark: Sendable, Codable, Equatable {
  package let room: String
  package let session: Int
  /// The number of the batch in its session, starting at 1.
  package let batch: Int
  /// In the first batch of a new room: when it was opened, in milliseconds since 1970.
  package var opened: Int?
  /// In the first batch of another session: the position that it continues.
  package var after: LogPosition?
  /// In the first batch of a session that continues a recording: the end of the recording, which began at ``after``.
  package var recorded: RecordedPosition?
  /// Whether the room was closed for good.
  package var closed: Bool?

  package init(room: String, at position: LogPosition) {
    (self.room, session, batch) = (room, position.session, position.batch)
  }

  /// The position behind the batch.
  package var position: LogPosition { LogPosition(session: session, batch: batch) }

  /// One JSON object on one line. The names of rooms need no escapes.
  var text: String {
    var text = #"{"room":"\#(room)","session":\#(session),"batch":\#(batch)"#
    if let opened { text += #","opened":\#(opened)"# }
    if let after { text += #","after":{"session":\#(after.session),"batch":\#(after.batch)}"# }
    if let recorded, let value = try? JSONValue(encoding: recorded) {
      text += #","recorded":\#(value)"#
    }
    if closed == true { text += #","closed":true"# }
    return text + "}"
  }
}
