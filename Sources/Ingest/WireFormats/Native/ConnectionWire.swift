import LiveEvents

/// Reads lines that address the connection and carry no event.
extension ControlLine {
  enum NativeType: String, CaseIterable { case sync, options, position }

  init(_ type: NativeType, from line: borrowing NativeMembers) throws(RejectionReason) {
    switch type {
    case .sync: self = .sync(token: try line.text(.token))
    case .options:
      var options = ConnectionOptions()
      if line.has(.room) {
        guard let room = try line.text(.room).withUTF8(RoomName.init(utf8:)) else {
          throw .invalidValue
        }
        options.room = room
      }
      if line.has(.clock) { options.clock = try line.choice(.clock) as FrameClock }
      if line.has(.format) { options.format = try line.choice(.format) as WireFormat }
      // The connection keeps these texts, which must not keep a slab alive.
      options.platform = try line.exactName(.platform)?.owned()
      options.source = try line.exactName(.source)?.owned()
      self = .options(options)
    case .position:
      // A room keeps this text, which must not keep a slab alive.
      self = .position(
        BatchPosition(
          source: try line.name(.source).owned(),
          sequence: try line.integer(.sequence, in: EventLimits.total)))
    }
  }
}
