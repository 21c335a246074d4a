import LiveEvents
import WireFormats

struct Recording: Sendable {
  static let bundled = "config/recordings/chat-burst.irc.gz"
  static let bundledName = "chat-burst.irc.gz"
  static let installed = "/usr/share/livehost/recordings"

  var path: String
  /// The room of the first line that names a room.
  var room: RoomName

  /// - Parameter path: nil for the bundled recording, which is searched for in the current
  ///   directory, in the directories above the program, and where packages install it.
  init(path: String?, programDirectory: String?) throws {
    self.path = try path ?? Self.find(programDirectory)
    room = try Self.room(of: self.path)
  }

  private static func find(_ programDirectory: String?) throws(Failure) -> String {
    var candidates = [bundled]
    var directory = programDirectory
    while let current = directory, current != "/", current != "." {
      candidates.append("\(current)/\(bundled)")
      directory = Paths.directory(of: current)
    }
    candidates.append("\(installed)/\(bundledName)")
    for candidate in candidates where FileKind(path: candidate) == .regular { return candidate }
    throw Failure(
      .badData,
      "the bundled recording was not found; name another one: livehostctl demo FILE "
        + "(tried \(candidates.joined(separator: ", ")))")
  }

  private static func room(of path: String) throws(Failure) -> RoomName {
    let source = try FileSource(path: path)
    var queue = PlaybackQueue(speed: .maximum, format: .auto)
    var decoder = LineDecoder()
    while queue.count < PlaybackQueue.longestLine {
      if try !source.read({ queue.append($0) }) { queue.finish() }
      var line: [UInt8] = []
      while true {
        let outcome = try queue.moveDueLines(now: 0, limit: 1, into: &line)
        if line.isEmpty {
          if outcome == .ended { throw Failure(.badData, "\(path) contains no events") }
          break
        }
        if case .event(_, let room) = decode(line, &decoder) { return decoder.name(of: room) }
        line = []
      }
    }
    throw Failure(.badData, "\(path) contains no events")
  }

  private static func decode(_ line: [UInt8], _ decoder: inout LineDecoder) -> DecodedLine {
    var text = line[...]
    while text.last == 0x0A || text.last == 0x0D { text.removeLast() }
    guard text.count <= LineDecoder.maximumLineLength else {
      return .rejected(.lineTooLong, room: nil)
    }
    let slab = ByteSlab(text)
    return decoder.decode(slab, line: ByteSlab.Slice(offset: 0, count: slab.count), arrival: 0)
  }
}
