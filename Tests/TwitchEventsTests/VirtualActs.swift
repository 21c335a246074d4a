import LiveEvents

/// The acts that a simulation requests from a session, and their effects at the server.
struct VirtualActs {
  private struct Act {
    /// What the server records when it carries out the act.
    let name: String
    var outcomes: [RequestOutcome] = []
    var isWithdrawn = false
  }

  private var acts: [String: Act] = [:]
  private(set) var violations: [String] = []

  /// Returns a new act with its identifier: a message, or a ban of a new person.
  mutating func next(isBan: Bool) -> (identifier: String, act: PlatformAct) {
    let number = acts.count
    let identifier = "main/\(number)"
    acts[identifier] = Act(name: isBan ? "ban \(number)" : "say \(number)")
    let act =
      isBan
      ? try? PlatformAct(.ban, person: Person(id: Text("\(number)"), name: "Bo"))
      : try? PlatformAct(.say, text: Text("\(number)"))
    guard let act else { fatalError("an act within the limits") }
    return (identifier, act)
  }

  mutating func withdraw(_ identifier: String) { acts[identifier]?.isWithdrawn = true }

  mutating func ended(_ identifier: String, _ outcome: RequestOutcome) {
    if acts[identifier]?.isWithdrawn == true {
      violations.append("\(identifier) was withdrawn and has an outcome")
    }
    acts[identifier]?.outcomes.append(outcome)
  }

  /// Checks each act against what the server has carried out, in its order. Returns the numbers of
  /// outcomes of each kind.
  mutating func judge(_ performed: [String]) -> [String: Int] {
    var counts: [String: Int] = [:]
    let times = performed.reduce(into: [String: Int]()) { $0[$1, default: 0] += 1 }
    for (identifier, act) in acts.sorted(by: { $0.key < $1.key }) {
      let times = times[act.name, default: 0]
      if times > 1 { violations.append("\(act.name) was carried out \(times) times") }
      if act.outcomes.count > 1 || act.outcomes.isEmpty && !act.isWithdrawn {
        violations.append("\(identifier) has the outcomes \(act.outcomes)")
      }
      switch act.outcomes.first {
      case .confirmed?:
        counts["confirmed", default: 0] += 1
        if times == 0 { violations.append("\(act.name) was confirmed and not carried out") }
      case .refused(let reason)? where reason.hasPrefix("the outcome is unknown"):
        counts["unknown", default: 0] += 1
      case .refused(let reason)?:
        counts["refused", default: 0] += 1
        if times > 0 { violations.append("\(act.name) was refused and carried out: \(reason)") }
      case .sent?: violations.append("\(identifier) is neither confirmed nor refused")
      case nil: counts["withdrawn", default: 0] += 1
      }
    }
    // A message whose outcome is unknown may reach the server after later messages.
    let confirmed = Set(acts.values.filter { $0.outcomes.first == .confirmed }.map(\.name))
    let said = performed.filter { $0.hasPrefix("say") && confirmed.contains($0) }
      .compactMap { Int($0.dropFirst(4)) }
    if said != said.sorted() { violations.append("messages were written in another order") }
    return counts
  }
}
