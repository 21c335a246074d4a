import ArgumentParser
import ControlInterface
import Glibc
import JSON
import LiveEvents
import ProgramArguments
import SystemSupport
import Systemd

struct JournalVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "journal",
    abstract: "Read the daemon's journal entries, including those of past runs.",
    discussion: """
      Does not need a running daemon. '--kind hang' includes microhangs; if only hangs are \
      requested, the output has the format of 'hangs'. Without --since, --follow starts with the \
      ten newest entries.

      Root and members of the groups adm and systemd-journal can read the system's journal. A \
      daemon started by hand logs to its standard error instead.

      JSON: an object with entries, an array of objects with timestamp, kind, level, message, room \
      and fields; with --follow one entry per line. With --kinds, an object with kinds.
      """)

  @OptionGroup(title: "Global options") var global: GlobalOptions

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Only entries since this time: -1h, 10m, today, '2026-11-21 10:00' or @SECONDS since 1970.",
      valueName: "time"),
    transform: { try PointInTime($0) })
  var since: PointInTime?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Only entries until this time, in the formats of --since.", valueName: "time"),
    transform: { try PointInTime($0) })
  var until: PointInTime?

  @Option(
    help: ArgumentHelp("Only entries of this kind; may be repeated.", valueName: "kind"))
  var kind: [JournalKind] = []

  @Option(help: "Only entries about this room.") var room: RoomName?

  @Option(
    name: [.customShort("n", allowingJoined: true), .long],
    help: ArgumentHelp("Maximum number of entries, the newest ones.", valueName: "number"))
  var lines: Int?

  @Flag(name: .shortAndLong, help: "Keep printing new entries until Ctrl-C.") var follow = false

  @Option(
    help: ArgumentHelp(
      "Read the journal files in this directory instead of this machine's journal.",
      valueName: "dir"),
    completion: .directory)
  var directory: String?

  @Flag(help: "List the kinds of entries and exit.") var kinds = false

  func validate() throws {
    if let lines, lines < 1 {
      throw ValidationError("--lines must be 1 or more, not \(lines)")
    }
    if follow, until != nil {
      throw ValidationError("--follow and --until cannot be combined; use one")
    }
    if let since, let until, until.milliseconds < since.milliseconds {
      throw ValidationError("--until is earlier than --since; swap them")
    }
  }

  private var query: JournalQuery {
    var query = JournalQuery()
    if let directory { query.source = .directory(directory) }
    var seen: Set<JournalMessageID> = []
    query.kinds = kind.flatMap(\.messages).filter { seen.insert($0).inserted }
    query.room = room?.description
    query.since = since?.milliseconds
    query.until = until?.milliseconds
    query.lines = lines ?? (follow && since == nil ? 10 : nil)
    return query
  }

  func run(_ context: Context) async throws {
    if kinds {
      try context.print(JournalText.kindsJSON()) { JournalText.kindLines() }
      return
    }
    do {
      var reader = try query.open()
      guard try reader.fileBytes() > 0 else { throw nothingToRead(context.environment.userID) }
      let listing = JournalListing(query: query, context: context)
      try listing.list(&reader, growing: follow)
      if follow { try Self.follow(&reader, listing) }
    } catch let error as SystemError {
      throw Self.failure(error)
    }
  }

  private static func follow(
    _ reader: inout JournalReader, _ listing: JournalListing
  ) throws {
    while true {
      // Each wait is short, because libsystemd's wait cannot be cancelled and an interruption is
      // noticed only between two waits.
      try Task.checkCancellation()
      _ = try reader.wait(microseconds: 200_000)
      try listing.list(&reader, growing: true)
    }
  }

  private func nothingToRead(_ userID: UInt32) -> Failure {
    switch query.source {
    case .local where userID == 0:
      Failure(
        .failed,
        "this machine has no journal. A daemon started by hand logs to its standard error")
    case .local:
      Failure(
        .failed,
        """
        no readable journal found; root and members of the groups adm and systemd-journal can read \
        the system's journal. A daemon started by hand logs to its standard error
        """)
    case .directory(let path):
      Failure(
        .failed,
        "\(path): no readable journal files; give a directory such as /var/log/journal/ID")
    }
  }

  private static func failure(_ error: SystemError) -> Failure {
    if error.operation == .openJournal, !error.context.isEmpty {
      return Failure(
        error.code == EACCES ? .notPermitted : .failed,
        "\(error.context): \(String(cString: strerror(error.code))); --directory needs a directory "
          + "with journal files, such as /var/log/journal/ID")
    }
    return Failure(error.code == EACCES ? .notPermitted : .failed, error.description)
  }
}
