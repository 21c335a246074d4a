import ArgumentParser
package import ControlInterface
import JSON
import LiveEvents
import TerminalScreen
import Varlink
import Wording

struct WhyVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "why", abstract: "Show which actions and fields triggered a view's evaluations.",
    discussion: """
      A view is evaluated when it appears, when a field that it reads has changed, when one of its \
      optional children has appeared or disappeared, or when its parent was evaluated and passed \
      its state down again. An evaluation is avoidable if it left the view unchanged.

      JSON: an object with view, evaluations, avoidable, meanMicroseconds, maximumMicroseconds, \
      reads, causes and recent; with --follow, then one element of recent for each new evaluation.
      """)

  @OptionGroup(title: "Global options") var global: GlobalOptions
  @Argument(help: "Name of the room.") var room: RoomName
  @Argument(
    help: "Name of the view, such as ChatView; 'show ROOM' lists them.", completion: .views)
  var view: String
  @Option(help: "Number of recent evaluations to list.") var count = 10
  @Flag(name: .shortAndLong, help: "Keep printing new evaluations until Ctrl-C.")
  var follow = false

  func validate() throws {
    if count < 0 { throw ValidationError("--count must not be negative") }
  }

  func run(_ context: Context) async throws {
    try await context.withDaemon { client in
      let explanation = try await explain(client)
      try (follow ? context.streaming : context).print(JSONValue(encoding: explanation)) {
        WhyText.lines(
          explanation, room: room.description, newest: count, columns: context.console.columns)
      }
      if follow { try await follow(after: explanation, client, context) }
    }
  }

  /// Prints new evaluations of a view by polling the daemon, which keeps the newest 64 of them. If
  /// there were more than 64 between two polls, prints how many are missing.
  private func follow(
    after explanation: Explanation, _ client: ControlClient, _ context: Context
  ) async throws {
    var last = explanation
    while true {
      try await Task.sleep(for: .milliseconds(250))
      let next = try await explain(client)
      let seen = last.recent.last?.frame ?? -1
      let new = next.recent.filter { $0.frame > seen }
      let missed = next.evaluations - last.evaluations - new.count
      if missed > 0 {
        context.console.warn("\(missed) evaluations were too frequent to be listed")
      }
      for evaluation in new {
        try context.streaming.print(JSONValue(encoding: evaluation)) { [WhyText.line(evaluation)] }
      }
      last = next
    }
  }

  private func explain(_ client: ControlClient) async throws -> Explanation {
    do {
      return try await client.explain(room: room.description, view: view)
    } catch VarlinkClientError.remote(let error) {
      guard case .noSuchView? = ControlError(error) else {
        throw VarlinkClientError.remote(error)
      }
      let known = try await client.getRoom(room.description).views.keys.sorted()
      throw Failure(
        .failed,
        "the room '\(room)' has no view '\(view)'; it has \(known.joined(separator: ", "))")
    }
  }
}

/// Formats the output of the verb `why`.
package enum WhyText {
  package static func lines(
    _ view: Explanation, room: String, newest: Int, columns: Int = .max
  ) -> [String] {
    var lines = [
      "\(view.view) of room \(room): \(Format.count(view.evaluations)) evaluations, "
        + "\(Format.count(view.avoidable)) of them avoidable",
      "  mean \(microseconds(view.meanMicroseconds)), longest "
        + Format.microseconds(view.maximumMicroseconds),
      "  reads \(view.reads.isEmpty ? "nothing" : view.reads.joined(separator: ", "))", "",
    ]
    var causes = TextTable([
      ("COUNT", .right), ("CAUSE", .left), ("ACTION", .left), ("FIELD", .left),
    ])
    for cause in view.causes {
      causes.append([
        Format.count(cause.count), name(cause.kind), cause.action ?? "-", cause.field ?? "-",
      ])
    }
    lines += causes.lines(columns: columns)
    let recent = view.recent.suffix(newest)
    if recent.isEmpty { return lines }
    var table = TextTable([
      ("FRAME", .right), ("TIME", .right), ("SELF", .right), ("", .left), ("WHY", .left),
    ])
    for evaluation in recent {
      table.append([
        Format.count(evaluation.frame), microseconds(evaluation.durationMicroseconds),
        microseconds(evaluation.selfMicroseconds), evaluation.avoidable ? "avoidable" : "",
        evaluation.causes.map(why).joined(separator: ", "),
      ])
    }
    return lines + ["", "newest evaluations:"] + table.lines(columns: columns)
  }

  /// Returns an evaluation as one line, for a list to which new evaluations are appended.
  package static func line(_ evaluation: EvaluationReport) -> String {
    let mark = evaluation.avoidable ? "  avoidable" : ""
    return
      "frame \(Format.count(evaluation.frame))  \(microseconds(evaluation.durationMicroseconds))"
      + "\(mark)  \(evaluation.causes.map(why).joined(separator: ", "))"
  }

  private static func why(_ cause: CauseReport) -> String {
    guard let action = cause.action, let field = cause.field else { return name(cause.kind) }
    return cause.kind == .changedInput
      ? "\(action) -> \(field) -> parent" : "\(action) -> \(field)"
  }

  private static func name(_ kind: CauseKind) -> String {
    switch kind {
    case .firstAppearance: "first appearance"
    case .ownRead: "own read"
    case .presence: "child appeared or disappeared"
    case .changedInput: "changed input"
    }
  }

  private static func microseconds(_ value: Double) -> String {
    value < 1_000 ? "\(Format.rate(value)) us" : "\(Format.rate(value / 1_000)) ms"
  }
}
