/// The text of `io.livehost.Control.varlink`, which stands beside this file; a test compares them.
///
/// In the source rather than a resource, so that the daemon stays one file.
let interfaceText = #"""
  # Watches and drives the rooms of livehostd.
  #
  # A room is the host screen of one live stream. Reading is open to all users who can connect;
  # methods that change something or take much of the machine, marked [Requires privileges], are
  # refused with org.varlink.service.PermissionDenied unless the caller is root, the user of the
  # service, or in its group.
  interface io.livehost.Control

  # A part of the host screen. chat, liveRoomStats and waitingRoom are optional: a room lacks them
  # until the first event that is theirs.
  type Feature (
    # Messages, moderation, notices.
    chat,
    # Sliders and switches.
    control,
    # Title, viewers, likes.
    header,
    # Statistics of encoder and connection.
    liveRoomStats,
    # State and progress of a recorder elsewhere.
    recorder,
    # People who wait to be let in.
    waitingRoom
  )

  # What the stream is doing.
  type Phase (
    # Not begun.
    waiting,
    # On air.
    live,
    # On air, with the picture held.
    paused,
    # Over.
    ended
  )

  # What a recorder elsewhere is doing.
  type RecorderState (
    # Not recording.
    idle,
    # Asked to record, not recording yet.
    starting,
    # Recording.
    recording,
    # Recording, held.
    paused,
    # Asked to stop, still writing.
    stopping,
    # Gave up.
    failed
  )

  # How the daemon is.
  type Health (
    # Everything works.
    ok,
    # It works, but something was lost or late: a hang, a lost journal entry, a full queue.
    degraded,
    # A lane makes no progress.
    failing
  )

  # Where events went. At any instant received = applied + coalesced + rejected + pending.
  type Counters (
    # Events that came in.
    received: int,
    # Events whose content reached a reducer, alone, in a batch or in a sum.
    applied: int,
    # Events superseded by a newer value of the same key.
    coalesced: int,
    # Events not taken.
    rejected: int,
    # Events handed over and not yet any of the others.
    pending: int
  )

  # Counters of the whole daemon: the sum over rooms, closed ones included, and over lines of which
  # no room is known.
  type Totals (
    # Events that came in.
    received: int,
    # Events whose content reached a reducer.
    applied: int,
    # Events superseded by a newer value of the same key.
    coalesced: int,
    # Events not taken.
    rejected: int,
    # Events handed over and not yet any of the others.
    pending: int,
    # Number of rejected events by reason; reasons that never occurred are left out.
    rejectedByReason: [string]int
  )

  # A person in chat.
  type User (
    # The platform's identifier.
    id: string,
    # The name to show.
    name: string,
    # Badges, as the platform names them. Null means none.
    badges: ?[]string
  )

  # A message in chat.
  type ChatMessage (
    # The platform's identifier.
    id: string,
    # Who wrote it.
    user: User,
    # What was written.
    text: string,
    # When, in milliseconds since 1970.
    timestamp: int,
    # It was taken down by a moderator.
    deleted: bool,
    # The identifier of the message that it answers; null if it answers none.
    replyTo: ?string,
    # True if it mentions somebody whose name is marked; else null.
    mention: ?bool
  )

  # The modes of a chat. Null is what the source did not tell.
  type ChatModes (
    # Seconds between messages of one person; 0 is off.
    slowSeconds: ?int,
    # Only emotes may be written.
    emoteOnly: ?bool,
    # Minutes somebody must have followed; -1 is off.
    followersOnlyMinutes: ?int,
    # Only subscribers may write.
    subscribersOnly: ?bool,
    # No message may be repeated.
    uniqueOnly: ?bool
  )

  # A notice that is shown: a subscription, a gift, a raid. A gift bomb and its gifts are one.
  type Notice (
    # Its number among the notices of the room, from 1.
    number: int,
    # subscribe, resubscribe, gift, giftBomb, raid or cheer.
    kind: string,
    # Who gave, subscribed, raids or cheers.
    user: User,
    # Gifts, months, viewers or bits, by kind.
    count: int,
    # When, in milliseconds since 1970.
    timestamp: int,
    # It stays until it is unpinned or dismissed.
    pinned: bool
  )

  # Which messages of a chat are to be seen. All that is set must hold.
  type ChatFilter (
    # Identifier of their author; null for anybody.
    user: ?string,
    # Words that occur in them, in whatever case; null for any.
    words: ?string,
    # Only those that mention somebody whose name is marked.
    mentionsOnly: ?bool
  )

  # A person and the number of their messages.
  type TopChatter (
    # Who wrote them.
    user: User,
    # How many they were.
    messages: int
  )

  # The largest number of chat messages within one second, by their time stamps.
  type BusiestSecond (
    # Within one second of the clock.
    byClock: int,
    # Within any window of one second.
    sliding: int
  )

  # The chat of a room.
  type Chat (
    # Messages so far, deleted ones included.
    total: int,
    # Messages taken down.
    deleted: int,
    # People who wrote a message.
    chatters: int,
    # Messages per second, lately.
    rate: float,
    # The newest messages, oldest first; their number is bounded.
    messages: []ChatMessage,
    # Deletions, time-outs, bans and clearings so far.
    moderations: int,
    # Subscriptions, gifts, raids and the like so far.
    notices: int,
    # The busiest second so far.
    busiestSecond: BusiestSecond,
    # Messages in the ten seconds before the newest one.
    recent: ?int,
    # Who wrote most, the busiest first.
    topChatters: ?[]TopChatter,
    # The modes in force; null while the source told none.
    modes: ?ChatModes,
    # The last notices, oldest first.
    noticeQueue: ?[]Notice,
    # Which messages the host wants to see; null for all.
    filter: ?ChatFilter,
    # The newest messages that pass the filter; null while there is none.
    filtered: ?[]ChatMessage,
    # Names whose mention is marked.
    mentionedNames: ?[]string,
    # Messages that came since the host scrolled back; null while the newest are read.
    unread: ?int,
    # The messages of the thread that is open; null while none is.
    thread: ?[]ChatMessage
  )

  # The control panel of a room.
  type Controls (
    # Committed values of the sliders, from 0 to 1, by name.
    values: [string]float,
    # Switches, by name.
    switches: [string]bool,
    # Names of the sliders that are being dragged.
    dragging: []string,
    # Number of values committed so far.
    committed: int
  )

  # The header of a room.
  type Header (
    # Title of the stream; empty if none was given.
    title: string,
    # Viewers now.
    viewers: int,
    # Most viewers at any time.
    peakViewers: int,
    # Sum of all reactions.
    likes: int,
    # Time on air, in milliseconds.
    durationMs: int,
    # How well the stream gets through: good, fair or poor; null while nobody says.
    connection: ?string
  )

  # One sample of encoder and connection. Null means that the source does not report it.
  type Statistics (
    # Kilobits per second sent.
    bitrateKbps: ?float,
    # Frames per second encoded.
    framesPerSecond: ?float,
    # Frames dropped since the stream began.
    droppedFrames: ?float,
    # Round trip to the platform, in milliseconds.
    roundTripMs: ?float,
    # From 0 (free) to 1 (nothing gets through).
    congestion: ?float
  )

  # Statistics of encoder and connection over the stream.
  type LiveRoomStats (
    # The newest sample.
    last: Statistics,
    # The smallest of each value.
    minimum: Statistics,
    # The largest of each value.
    maximum: Statistics,
    # The mean of each value.
    mean: Statistics,
    # One word on the connection, such as good, fair or poor.
    quality: string,
    # The measurement that the quality follows, such as congestion; null while it is good.
    fault: ?string
  )

  # What is known of one recorder.
  type SingleRecorder (
    # What it is doing.
    state: RecorderState,
    # Bytes written.
    bytes: int,
    # Time recorded, in milliseconds.
    durationMs: int
  )

  # The recorder of a room: its own recording if there is one, else the recorder elsewhere.
  type Recorder (
    # What it is doing.
    state: RecorderState,
    # Bytes written.
    bytes: int,
    # Time recorded, in milliseconds.
    durationMs: int,
    # From 0 to 1; null if the whole is not known.
    progress: ?float,
    # The room's own recording; null if none was started.
    own: ?SingleRecorder,
    # The recorder elsewhere that events tell of.
    elsewhere: ?SingleRecorder
  )

  # The waiting room.
  type WaitingRoom (
    # People waiting now.
    waiting: int,
    # People let in so far.
    admitted: int,
    # How many the host lets in at most; null for no limit.
    capacity: ?int,
    # Seconds until the stream begins; null while nobody knows.
    secondsLeft: ?int,
    # When the stream is to begin, in milliseconds since 1970; null while nobody knows.
    startsAt: ?int,
    # Those who have waited longest; their number is bounded.
    people: ?[]User
  )

  # The parts of the host screen. A part that was not asked for is absent.
  type Features (
    # Null while the room has no chat.
    chat: ?Chat,
    # The control panel.
    control: ?Controls,
    # The header.
    header: ?Header,
    # Null unless the stream is on air and statistics came in.
    liveRoomStats: ?LiveRoomStats,
    # The recorder.
    recorder: ?Recorder,
    # Null unless somebody waited before the stream went on air.
    waitingRoom: ?WaitingRoom
  )

  # How often a view was evaluated, and what it cost.
  type View (
    # Evaluations so far.
    evaluations: int,
    # Those whose output was the same as before.
    avoidable: int,
    # Time spent, in microseconds.
    totalMicroseconds: int,
    # The longest evaluation, in microseconds.
    maximumMicroseconds: int
  )

  # The kinds of parts of a screen.
  type ScreenNodeKind (
    # Nothing.
    empty,
    # A text with an emphasis.
    text,
    # A label in text, and a value from 0 to 1.
    gauge,
    # Parts side by side.
    row,
    # Parts one above the other.
    column,
    # Parts one above the other, each with an id that stays the same while it is on the screen.
    list,
    # Parts in a frame with text as title.
    panel,
    # The output of another view.
    child
  )

  # A part of what a view looks like. Which members it has depends on its kind.
  type ScreenNode (
    # What it is.
    kind: ScreenNodeKind,
    # The text, label or title.
    text: ?string,
    # normal, strong, faint or warning.
    emphasis: ?string,
    # The value of a gauge, from 0 to 1.
    value: ?float,
    # The identity of an element of a list.
    id: ?string,
    # The number of a child.
    view: ?int,
    # The parts within.
    parts: ?[]ScreenNode
  )

  # What one view looks like.
  type ScreenView (
    # Name of the view, such as ChatView.
    name: string,
    # What it looks like.
    output: ScreenNode
  )

  # What the views of a room look like.
  type Screen (
    # Number of the view at the top.
    root: int,
    # The views on the screen, by number.
    views: [string]ScreenView
  )

  # A room: the same members as the reply of GetRoom.
  type Room (
    # Name of the room.
    room: string,
    # What the stream is doing.
    phase: Phase,
    # The parts of the screen.
    features: Features,
    # Where the room's events went.
    counters: Counters,
    # Number of rejected events by reason; reasons that never occurred are left out.
    rejectedByReason: [string]int,
    # Actions that the root reducer reduced.
    actions: int,
    # Actions by kind.
    actionsByKind: [string]int,
    # Frames drawn.
    frames: int,
    # Views by name.
    views: [string]View
  )

  # A line of the list of rooms.
  type RoomSummary (
    # Name of the room.
    room: string,
    # What the stream is doing.
    phase: Phase,
    # Viewers now.
    viewers: int,
    # Where the room's events went.
    counters: Counters
  )

  # How long a turn of a lane was.
  type HangKind (
    # 250 to 500 ms.
    microhang,
    # 500 ms and more.
    hang
  )

  # What became of the time of a hang.
  type HangReason (
    # The lane computed.
    busy,
    # The lane waited in a call for something.
    blocked,
    # The lane was ready, and the machine gave it no processor.
    descheduled
  )

  # A turn of a lane that was long enough to be noticed. At most one of action, view and effect is
  # given: what the lane did for most of the turn.
  type Hang (
    # Counts the hangs of this run of the daemon, from 1.
    number: int,
    # When the turn began, in milliseconds since 1970.
    timestamp: int,
    # How long it was.
    kind: HangKind,
    # What became of the time.
    reason: HangReason,
    # How long it was, in microseconds.
    durationMicroseconds: int,
    # Number of the lane.
    lane: int,
    # The room for which the lane worked, if that is known.
    room: ?string,
    # The kind of action that was reduced, such as chat.messages.
    action: ?string,
    # The view that was evaluated.
    view: ?string,
    # The effect that ran.
    effect: ?string,
    # Time on a processor, in microseconds. Null if the kernel does not tell.
    processorMicroseconds: ?int,
    # Time without a processor although the lane was ready. Null if the kernel does not tell.
    waitedMicroseconds: ?int
  )

  # What leads to the evaluation of a view.
  type CauseKind (
    # The view was not on the screen before.
    firstAppearance,
    # A field that it read changed.
    ownRead,
    # An optional child of it came or went.
    presence,
    # Its parent was evaluated and handed its tracked state down anew.
    changedInput
  )

  # Why a view was evaluated, and how often.
  type Cause (
    # What led to it.
    kind: CauseKind,
    # The kind of action behind it, such as chat.messages. Null if none is known.
    action: ?string,
    # The field of the view's state, or for a changed input of its parent's. Null if none is known.
    field: ?string,
    # How often; for a single evaluation 1.
    count: int
  )

  # One evaluation of a view.
  type Evaluation (
    # The frame in which it was.
    frame: int,
    # How long it took, with the views evaluated within, in microseconds.
    durationMicroseconds: float,
    # The same without them.
    selfMicroseconds: float,
    # The view looked the same as before.
    avoidable: bool,
    # Why it was.
    causes: []Cause
  )

  # A file that a scenario names.
  type ScenarioFile (
    # Its path, as the scenario names it or below a directory that the scenario is in.
    path: string,
    # Its bytes in base 64.
    contents: string
  )

  # What became of a recording.
  type RecordingState (
    # It is being written.
    recording,
    # It was stopped.
    finished,
    # The daemon ended without stopping it; what had been acknowledged is there.
    interrupted,
    # It could not go on.
    failed,
    # A part of it is not what was written.
    damaged
  )

  # A recording of a room.
  type Recording (
    # Its name.
    recording: string,
    # Name of the room.
    room: string,
    # What became of it.
    state: RecordingState,
    # Why it failed, or what is damaged. Null otherwise.
    reason: ?string,
    # When it began, in milliseconds since 1970.
    startedAt: int,
    # When it ended, in milliseconds since 1970. Null if it has not, or nobody noted it.
    endedAt: ?int,
    # Events in it.
    events: int,
    # Frames in it.
    frames: int,
    # Size of its files.
    bytes: int,
    # From its first step to its last, in milliseconds.
    durationMs: int,
    # Number of its files.
    segments: int,
    # Stands for the state of the room at its end, if it holds all that led to it. Null otherwise.
    digest: ?string
  )

  # What a task does.
  type TaskKind (
    # Plays a recording into a room, which comes to the same state.
    replay,
    # Gives the events of a recording, as native events.
    export,
    # Finds when a chat was busier than before, and the words that mark it.
    highlights,
    # Finds messages that are nearly the same.
    spam,
    # Finds who writes how much.
    chatters
  )

  # A task that runs.
  type RunningTask (
    # Its name.
    task: string,
    # What it does.
    kind: TaskKind,
    # The recording or the room that it works on.
    subject: string,
    # The share done, from 0 to 100. Null if it is not known.
    percent: ?int,
    # When it began, in milliseconds since 1970.
    startedAt: int
  )

  # What the value of a metric does.
  type MetricKind (
    # It only grows, until the daemon starts again.
    counter,
    # It grows and shrinks.
    gauge,
    # Counts of values up to bounds, with their sum and number.
    histogram
  )

  # One value of a metric.
  type MetricSample (
    # The name of the metric; of a histogram with _bucket, _sum or _count behind it.
    name: string,
    # What tells it from the other values of the metric, such as the room. Of a bucket, le is its bound.
    labels: [string]string,
    # The value, in the unit that the metric's name ends with.
    value: float
  )

  # A metric, as Prometheus understands it.
  type Metric (
    # Its name, with the unit at its end.
    name: string,
    # What its value does.
    kind: MetricKind,
    # What it means.
    help: string,
    # Its values, one for each combination of labels.
    samples: []MetricSample
  )

  # How the daemon is doing.
  method GetStatus() -> (
    # Version of the daemon.
    version: string,
    # Seconds since it started.
    uptimeSeconds: int,
    # Number of open rooms.
    rooms: int,
    # Events received per second, lately.
    eventsPerSecond: float,
    # Where all events went.
    totals: Totals,
    # One word on everything.
    health: Health,
    # The longest time for which a lane was held without a break, in microseconds.
    longestTurnMicroseconds: int,
    # Resident memory, in bytes.
    memoryBytes: int,
    # Journal entries that could not be written.
    journalEntriesLost: int,
    # Number of lanes over which the rooms are spread.
    lanes: int,
    # Turns of a lane that took 250 to 500 ms.
    microhangs: int,
    # Turns of a lane that took 500 ms and more.
    hangs: int,
    # Least severe messages that are logged: trace, debug, info, notice, warning, error or critical.
    logLevel: string,
    # The longest time for which a task such as an analysis ran without giving way, in microseconds on a
    # processor.
    longestSliceMicroseconds: int
  )

  # What monitoring systems collect: the numbers of the daemon and of its open rooms.
  method GetMetrics() -> (
    # One element for each metric, sorted by name.
    metrics: []Metric
  )

  # The open rooms, sorted by name.
  method ListRooms() -> (
    # One element for each room.
    rooms: []RoomSummary
  )

  # Opens a room. Errors: RoomExists, LimitReached; InvalidParameter if the name breaks the rule
  # [a-z0-9_][a-z0-9_.-]{0,63}.
  # [Requires privileges]
  method OpenRoom(
    # Name of the room.
    room: string
  ) -> ()

  # Closes a room and ends its monitors. Errors: NoSuchRoom.
  # [Requires privileges]
  method CloseRoom(
    # Name of the room.
    room: string
  ) -> ()

  # The current state of a room. Errors: NoSuchRoom.
  method GetRoom(
    # Name of the room.
    room: string,
    # The only part of the screen to tell of. Null means all.
    feature: ?Feature
  ) -> (
    # Name of the room.
    room: string,
    # What the stream is doing.
    phase: Phase,
    # The parts of the screen.
    features: Features,
    # Where the room's events went.
    counters: Counters,
    # Number of rejected events by reason; reasons that never occurred are left out.
    rejectedByReason: [string]int,
    # Actions that the root reducer reduced.
    actions: int,
    # Actions by kind.
    actionsByKind: [string]int,
    # Frames drawn.
    frames: int,
    # Views by name.
    views: [string]View
  )

  # The state of a room and its changes. The first reply has room, later ones have patch. Changes
  # that come faster than they are read, or than maximumRate, are merged into one patch. Without the
  # flag there is one reply, the current state. Ends with NoSuchRoom when the room closes. Errors:
  # NoSuchRoom, LimitReached.
  # [Supports 'more' flag]
  method MonitorRoom(
    # Name of the room.
    room: string,
    # The parts of the screen to tell of. Null means all, an empty list none.
    features: ?[]Feature,
    # Replies per second at most, over 0. Null means as often as the daemon publishes.
    maximumRate: ?float
  ) -> (
    # Number of the state that this reply leads to. It grows; numbers are missing where changes were
    # merged.
    sequence: int,
    # The whole state.
    room: ?Room,
    # What to change in the state before: a JSON merge patch (RFC 7396) for the object room. It
    # removes a member by null; a nullable member that is absent reads as null, so a part of the
    # screen that went away is removed in this way.
    patch: ?object
  )

  # Why a view of a room was evaluated: over all evaluations, and the newest ones. Errors: NoSuchRoom,
  # NoSuchView.
  method Explain(
    # Name of the room.
    room: string,
    # Name of the view, such as ChatView: one of the members of views in the reply of GetRoom.
    view: string
  ) -> (
    # Name of the view.
    view: string,
    # Evaluations so far.
    evaluations: int,
    # Those whose output was the same as before.
    avoidable: int,
    # The mean of all evaluations, with the views evaluated within, in microseconds.
    meanMicroseconds: float,
    # The longest one, in microseconds.
    maximumMicroseconds: int,
    # The fields that it read last.
    reads: []string,
    # Over all evaluations, most frequent first.
    causes: []Cause,
    # The newest evaluations, oldest first.
    recent: []Evaluation
  )

  # The hangs of the running daemon, oldest first; their number is bounded, the oldest go first.
  method ListHangs(
    # Only those that began at this time or later, in milliseconds since 1970. Null means all.
    since: ?int
  ) -> (
    # One element for each hang.
    hangs: []Hang
  )

  # Begins to record a room: every accepted event in order, with the room's time and its frames. While a
  # room records, what is sent to it is acknowledged once it is synced to disk. Errors: NoSuchRoom,
  # AlreadyRecording, RecordingFailed.
  # [Requires privileges]
  method StartRecording(
    # Name of the room.
    room: string
  ) -> (
    # The recording, empty as yet.
    recording: Recording
  )

  # Ends the recording of a room, once all of it is on disk. Errors: NoSuchRoom, NotRecording,
  # RecordingFailed.
  # [Requires privileges]
  method StopRecording(
    # Name of the room.
    room: string
  ) -> (
    # The recording.
    recording: Recording
  )

  # The recordings, oldest first; those that are being written have what is written so far. Errors:
  # RecordingFailed if they cannot be read.
  method ListRecordings(
    # Only those of this room, which need not be open. Null means all.
    room: ?string
  ) -> (
    # One element for each recording.
    recordings: []Recording
  )

  # Runs a task, on processors that no room needs. Replies before the last one have progress, or a part of
  # an export. Ends early when the client disconnects, and with NoSuchRoom when the room is closed that it
  # works on. Errors: NoSuchRecording, NoSuchRoom, RecordingFailed, LimitReached, Busy if a recording is
  # played into the room already.
  # [Supports 'more' flag]
  # [Requires privileges]
  method StartTask(
    # What to do.
    kind: TaskKind,
    # The recording to work on. Null means what the room's chat keeps, for those tasks that analyse it.
    recording: ?string,
    # The room to play into, null meaning the recording's own; or the one to analyse.
    room: ?string,
    # For a replay, how many times as fast as it was. Null means as fast as possible.
    speed: ?float,
    # Where a replay begins, in milliseconds from the beginning of the recording. Null means there.
    startMs: ?int
  ) -> (
    # Name of the task.
    task: string,
    # The share done, from 0 to 100. Null if it is not known.
    percent: ?int,
    # A part of an export: whole lines.
    text: ?string,
    # What came of it, in the last reply.
    result: ?object,
    # The same as lines for people.
    lines: ?[]string
  )

  # The tasks that run, oldest first.
  method ListTasks() -> (
    # One element for each task.
    tasks: []RunningTask
  )

  # Asks a task to end, which it does within a few milliseconds. Errors: NoSuchTask.
  # [Requires privileges]
  method CancelTask(
    # Name of the task.
    task: string
  ) -> ()

  # Runs a scenario on simulated devices, on processors that no room needs. Replies before the last one
  # have percent, and in the end parts of the trace. Ends early when the client disconnects. Errors:
  # InvalidScenario, LimitReached.
  # [Supports 'more' flag]
  # [Requires privileges]
  method Simulate(
    # Where the scenario came from: its name in errors.
    path: string,
    # The text of the scenario, in YAML.
    scenario: string,
    # All files that it names: recordings and device profiles.
    files: []ScenarioFile,
    # Devices instead of the scenario's. An empty list leaves these.
    devices: []string,
    # The variants to run. An empty list runs all.
    variants: []string,
    # The seed instead of the scenario's.
    seed: ?int,
    # Keys to set, such as load=2.
    settings: []string,
    # Thresholds beside those of the scenario, such as hangs == 0.
    thresholds: []string,
    # Whether the last reply has a page with charts.
    wantsPage: bool,
    # Whether the last reply has a trace that Perfetto opens.
    wantsTrace: bool
  ) -> (
    # The share done, from 0 to 100.
    percent: int,
    # The report: an object with version, scenario, seed, parameters, digest, runs and thresholds.
    report: ?object,
    # The same as lines for people.
    lines: ?[]string,
    # Thresholds that were not met, as lines for people.
    missed: ?[]string,
    # The page, in HTML.
    page: ?string,
    # A part of the trace, in JSON: the parts of all replies, put together, are the trace.
    trace: ?string
  )

  # Watches for hangs. The first reply has those so far, later ones have each new one. Without the flag
  # there is one reply. Errors: LimitReached.
  # [Supports 'more' flag]
  method MonitorHangs() -> (
    # The hangs so far, or the new ones.
    hangs: []Hang
  )

  # What the views of a room look like, and its changes, as MonitorRoom does it: the first reply has
  # screen, later ones have patch. Errors: NoSuchRoom, LimitReached.
  # [Supports 'more' flag]
  method MonitorScreen(
    # Name of the room.
    room: string,
    # Replies per second at most, over 0. Null means as often as the daemon publishes.
    maximumRate: ?float
  ) -> (
    # Number of the state that this reply leads to.
    sequence: int,
    # The whole screen.
    screen: ?Screen,
    # What to change in the screen before: a JSON merge patch (RFC 7396) for the object screen.
    patch: ?object
  )

  # Commits a value of a slider, or sets a switch, as if the host had done so. A slider that is being
  # dragged goes on; its end has the last word.
  # [Requires privileges]
  method SetControl(
    # Name of the room, which must be open.
    room: string,
    # Name of the slider or the switch; at most 256 bytes.
    control: string,
    # Value of a slider, from 0 to 1; not together with on.
    value: ?float,
    # Position of a switch; without it and without value the switch toggles.
    on: ?bool
  ) -> (
    # The value that the slider has now; absent for a switch.
    value: ?float,
    # The position that the switch has now; absent for a slider, and for endStream, which asks first.
    on: ?bool
  )

  # Where in the chat the host reads.
  type ScrollPosition (
    # Older messages; what comes is counted as unread.
    back,
    # The newest messages.
    end
  )

  # What becomes of a notice.
  type NoticeHandling (
    # It stays in front of those that are not pinned, until it is unpinned or dismissed.
    pin,
    # It goes when newer ones come.
    unpin,
    # It is taken off the screen.
    dismiss
  )

  # Lets people in from the waiting room, as far as there is room: one person, all, or without both
  # whoever has waited longest. Like the methods after it, it returns once it is applied and, in a room
  # that records, synced to disk; a replay does it, too. Errors: NoSuchRoom, NobodyWaits, RoomFull.
  # [Requires privileges]
  method Admit(
    # Name of the room, which must be open.
    room: string,
    # Identifier of somebody who waits; not together with all.
    user: ?string,
    # All for whom there is room, in the order in which they came; it may be nobody.
    all: ?bool
  ) -> (
    # Those who were let in, the first to come first.
    people: []User,
    # People who still wait.
    waiting: int,
    # People let in so far.
    admitted: int
  )

  # Sets which messages of the chat are to be seen. With no member set, all are. Errors: NoSuchRoom.
  # [Requires privileges]
  method SetChatFilter(
    # Name of the room, which must be open.
    room: string,
    # Identifier of their author; null for anybody.
    user: ?string,
    # Words that occur in them, in whatever case; null for any.
    words: ?string,
    # Only those that mention somebody whose name is marked.
    mentionsOnly: ?bool
  ) -> (
    # How many of the messages that the room keeps pass.
    passing: int
  )

  # Sets whose mention (an @ and the name) is marked in the chat. Errors: NoSuchRoom.
  # [Requires privileges]
  method SetMentionedNames(
    # Name of the room, which must be open.
    room: string,
    # The names, at most 32; none marks nothing.
    names: []string
  ) -> (
    # How many of the messages that the room keeps mention one of them.
    mentions: int
  )

  # Scrolls the chat back, which counts what comes as unread, or to its end. Errors: NoSuchRoom.
  # [Requires privileges]
  method ScrollChat(
    # Name of the room, which must be open.
    room: string,
    # Where the host reads.
    position: ScrollPosition
  ) -> (
    # Messages that came since the chat was scrolled back.
    unread: int
  )

  # Shows the thread that a message began or answers in, and keeps it up to date. Errors: NoSuchRoom,
  # NoSuchMessage.
  # [Requires privileges]
  method ShowThread(
    # Name of the room, which must be open.
    room: string,
    # Identifier of the message; null closes the thread that is open.
    message: ?string
  ) -> (
    # What the room keeps of the thread, oldest first.
    messages: []ChatMessage
  )

  # Pins, unpins or dismisses a notice. Errors: NoSuchRoom, NoSuchNotice, LimitReached.
  # [Requires privileges]
  method HandleNotice(
    # Name of the room, which must be open.
    room: string,
    # Its number, as the chat's noticeQueue tells it.
    notice: int,
    # What becomes of it.
    handling: NoticeHandling
  ) -> ()

  # Hands over events and waits until they are applied and, in a room that records, synced to disk.
  # The list is taken as a whole or not at all. Errors: InvalidEvent, LimitReached, Busy;
  # RecordingFailed if the events are applied, but the recorder failed and has not all of them.
  # [Requires privileges]
  method SendEvents(
    # The room of all events that name none. Null means main.
    room: ?string,
    # Native events, such as {"type":"viewers","count":12}.
    events: []object
  ) -> (
    # Events received, the elements of the list.
    received: int,
    # Those of them that were well formed and still not taken, duplicates for instance.
    rejected: int
  )

  # No room has that name.
  error NoSuchRoom (
    # The name asked for.
    room: string
  )

  # Nobody waits to be let in, or not the one who was named.
  error NobodyWaits (
    # Name of the room.
    room: string,
    # The identifier asked for; null if none was.
    user: ?string
  )

  # As many were let in as the waiting room's capacity allows.
  error RoomFull (
    # Name of the room.
    room: string,
    # The capacity.
    capacity: int
  )

  # The chat keeps no message with that identifier.
  error NoSuchMessage (
    # Name of the room.
    room: string,
    # The identifier asked for.
    message: string
  )

  # The chat shows no notice with that number.
  error NoSuchNotice (
    # Name of the room.
    room: string,
    # The number asked for.
    notice: int
  )

  # No view of that name was ever on the room's screen.
  error NoSuchView (
    # Name of the room.
    room: string,
    # The name asked for.
    view: string
  )

  # A scenario or a device profile is wrong.
  error InvalidScenario (
    # The file, or the option.
    file: string,
    # The line, from 1. Null if the file as a whole is meant.
    line: ?int,
    # The key with those around it, such as events[2].rate. Null if none is meant.
    key: ?string,
    # What is wrong, and what to do.
    message: string
  )

  # A room of that name is open.
  error RoomExists (
    # The name asked for.
    room: string
  )

  # No recording has that name.
  error NoSuchRecording (
    # The name asked for.
    recording: string
  )

  # No task has that name.
  error NoSuchTask (
    # The name asked for.
    task: string
  )

  # The room is being recorded.
  error AlreadyRecording (
    # Name of the room.
    room: string
  )

  # The room is not being recorded.
  error NotRecording (
    # Name of the room.
    room: string
  )

  # A recording could not be begun, or could not go on.
  error RecordingFailed (
    # Name of the room.
    room: string,
    # Why, such as a full disk.
    reason: string
  )

  # An event of the list is malformed, so none of them was taken.
  error InvalidEvent (
    # Its place in the list, counted from 0.
    index: int,
    # Name of the rule that it breaks, as in rejectedByReason.
    reason: string
  )

  # The configuration allows no more.
  error LimitReached (
    # Name of the limit, such as rooms or monitors.
    limit: string
  )

  # The daemon is at work on the same thing; try again later.
  error Busy ()

  """#
