import ViewGraph

/// Derives findings from the record of a run. A rule compares avoidable work with all work of the
/// kind and with the duration of the run, but never uses names or sizes of a particular screen.
struct FindingRules {
  /// The smallest share of the screen's thread that is reported, in nanoseconds per second.
  static let least: Int64 = 10_000_000

  let run: RunReport
  /// The duration of the run, in nanoseconds.
  let duration: Int64

  func perSecond(_ cost: Int64) -> Int64 {
    Int64(clamping: Int128(cost) * 1_000_000_000 / Int128(duration))
  }

  /// - Parameter cost: The cost over the whole run, in nanoseconds.
  func finding(
    _ kind: Finding.Kind, _ subject: String, field: String? = nil, action: String? = nil,
    cost: Int64, _ evidence: String, _ advice: String
  ) -> Finding {
    Finding(
      kind: kind, device: run.device, variant: run.variant, subject: subject, field: field,
      action: action, cost: perSecond(cost), evidence: evidence, advice: advice)
  }

  /// Whether the tally is at least half of `all` and costs enough to be reported.
  func isMost(_ tally: Tally, of all: Int) -> Bool {
    tally.count > 0 && tally.count * 2 >= all && perSecond(tally.cost) >= Self.least
  }

  /// Returns the findings that depend on the plan alone.
  func counted(_ recorder: FindingRecorder) -> [Finding] {
    recorder.views.sorted { $0.name < $1.name }.flatMap(findings)
      + recorder.actions.flatMap(findings) + run.effects.compactMap(finding)
  }

  // MARK: Views

  private func findings(of view: ViewTally) -> [Finding] {
    let name = view.name
    var findings: [Finding] = []
    if isMost(view.avoidable.total, of: view.evaluations) {
      findings.append(
        finding(
          .overObservation, name, view.avoidable,
          "\(view.avoidable.total.count) of \(view.evaluations) evaluations changed nothing"))
    }
    if isMost(view.coarse.total, of: view.evaluations) {
      findings.append(
        finding(
          .coarseView, name, view.coarse,
          "\(view.coarse.total.count) of \(view.evaluations) evaluations changed at most a tenth"
        ))
    }
    if isMost(view.renamedRows, of: view.rows) {
      findings.append(
        finding(
          .identityChurn, name, cost: view.renamedRows.cost,
          "\(view.renamedRows.count) of \(view.rows) rows repeat an old row under a new identifier",
          "Identify rows by their content, such as the key of the element, not by their position."
        ))
    }
    if isMost(view.returns, of: view.appearances) {
      findings.append(
        finding(
          .identityChurn, name, cost: view.returns.cost,
          "\(view.returns.count) of \(view.appearances) appearing views had just been removed",
          "Keep the keys of elements, and keep the views of content while it reloads."))
    }
    return findings
  }

  private func finding(
    _ kind: Finding.Kind, _ view: String, _ tally: ReasonTally, _ evidence: String
  ) -> Finding {
    guard let (reason, count) = tally.reason else {
      return finding(kind, view, cost: tally.total.cost, evidence, "")
    }
    let field = reason.field ?? "a field"
    let cause = reason.action.map { ", \(count) of them because \($0) changed \(field)" } ?? ""
    let advice =
      if kind == .coarseView {
        "Move \(field) into a separate view."
      } else if reason.kind == .changedInput {
        "Ignore \(field) when observing the parent, so that each child observes its own state."
      } else {
        "Instead of \(field), read a field that changes only when the view's output changes."
      }
    return finding(
      kind, view, field: reason.field, action: reason.action, cost: tally.total.cost,
      evidence + cause, advice)
  }

  // MARK: Actions

  private func findings(of action: ActionTally) -> [Finding] {
    let (reductions, followers) = (action.reductions, action.followers)
    var findings: [Finding] = []
    if followers.count >= 3 * reductions.count, perSecond(followers.cost) >= Self.least {
      findings.append(
        finding(
          .chattyActions, action.name, cost: followers.cost,
          "\(reductions.count) of these actions caused \(followers.count) more by feedback",
          "Call functions for the steps instead of sending an action for each."))
    }
    // An action that mostly follows other actions is not a finding, because it is counted with the
    // actions that it follows.
    guard action.asFeedback * 2 < reductions.count, reductions.count >= 2 * action.shown else {
      return findings
    }
    let surplus = reductions.count - action.shown
    let cost = Int64(Int128(reductions.cost) * Int128(surplus) / Int128(max(1, reductions.count)))
    guard perSecond(cost) >= Self.least else { return findings }
    let evidence = "\(reductions.count) of these actions changed only \(action.shown) frames"
    let advice =
      if action.fromEffects * 2 >= reductions.count {
        "Send from the effect less often: only for visible changes, or once per frame."
      } else if reductions.count >= 2 * run.events.received {
        "Send one action with all elements instead of one action for each."
      } else {
        "Throttle the events: once per frame, pass the newest, or all events since the last frame."
      }
    let isInput =
      action.fromEffects * 2 < reductions.count && reductions.count < 2 * run.events.received
    findings.append(
      finding(
        isInput ? .unthrottledInput : .chattyActions, action.name, cost: cost, evidence, advice))
    return findings
  }

  // MARK: Effects

  private func finding(of effect: EffectReport) -> Finding? {
    guard effect.started >= 10, effect.abandoned * 2 >= effect.started else { return nil }
    return finding(
      .wastedEffects, effect.name, cost: 0,
      "\(effect.abandoned) of \(effect.started) were abandoned before they completed",
      "Debounce the action that starts it.")
  }
}
