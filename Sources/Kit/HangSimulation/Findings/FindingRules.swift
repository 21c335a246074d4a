import ViewGraph

/// Derives findings from what a run did.
///
/// A rule compares work that could be left out with all work of its sort, and with the time of the run. None knows the name
/// or the size of anything.
struct FindingRules {
  /// Work below this share of the thread's time is not worth a word: nanoseconds per second.
  static let least: Int64 = 10_000_000

  let run: RunReport
  /// In nanoseconds.
  let duration: Int64

  func perSecond(_ cost: Int64) -> Int64 {
    Int64(clamping: Int128(cost) * 1_000_000_000 / Int128(duration))
  }

  /// - Parameter cost: in the whole run.
  func finding(
    _ kind: Finding.Kind, _ subject: String, field: String? = nil, action: String? = nil,
    cost: Int64, _ evidence: String, _ advice: String
  ) -> Finding {
    Finding(
      kind: kind, device: run.device, variant: run.variant, subject: subject, field: field,
      action: action, cost: perSecond(cost), evidence: evidence, advice: advice)
  }

  /// Whether this is most of `all`, and costs enough.
  func isMost(_ tally: Tally, of all: Int) -> Bool {
    tally.count > 0 && tally.count * 2 >= all && perSecond(tally.cost) >= Self.least
  }

  /// What follows from the plan alone.
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
          "in \(view.coarse.total.count) of \(view.evaluations) evaluations a tenth or less changed"
        ))
    }
    if isMost(view.renamedRows, of: view.rows) {
      findings.append(
        finding(
          .identityChurn, name, cost: view.renamedRows.cost,
          "\(view.renamedRows.count) of \(view.rows) rows look as a row with another identifier did",
          "Identify rows by what they show, such as the key of the element, not by their position."
        ))
    }
    if isMost(view.returns, of: view.appearances) {
      findings.append(
        finding(
          .identityChurn, name, cost: view.returns.cost,
          "\(view.returns.count) of \(view.appearances) appearances brought back what had just gone",
          "Keep the keys of elements, and the views of content that is being loaded again."))
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
        "Show \(field) in a view of its own."
      } else if reason.kind == .changedInput {
        "Ignore \(field) in the observation of the parent, so that each view below observes its own state."
      } else {
        "Read a field that changes only when the view looks different, instead of \(field)."
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
          "\(reductions.count) of these led to \(followers.count) further actions by feedback",
          "Call functions for the steps in place of sending an action for each."))
    }
    // Those that follow others are counted there.
    guard action.asFeedback * 2 < reductions.count, reductions.count >= 2 * action.shown else {
      return findings
    }
    let surplus = reductions.count - action.shown
    let cost = Int64(Int128(reductions.cost) * Int128(surplus) / Int128(max(1, reductions.count)))
    guard perSecond(cost) >= Self.least else { return findings }
    let evidence = "\(reductions.count) of these changed \(action.shown) frames"
    let advice =
      if action.fromEffects * 2 >= reductions.count {
        "Let the effect send less often: when something shows, or once per frame."
      } else if reductions.count >= 2 * run.events.received {
        "Send one action with all elements in place of one for each."
      } else {
        "Throttle the events: once per frame the newest, or all since the last one together."
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
      "\(effect.abandoned) of \(effect.started) were abandoned before they were answered",
      "Debounce what starts it.")
  }
}
