/// Completions that wait for the outcomes of numbered attempts or requests.
struct Waiters<Outcome> {
  typealias Completion = @Sendable (Outcome) -> Void

  private var completions: [Int: [Completion]] = [:]

  mutating func add(_ completion: @escaping Completion, to number: Int) {
    completions[number, default: []].append(completion)
  }

  /// Removes and returns the completions of a number. The caller calls these completions, because a
  /// completion may add others.
  mutating func remove(_ number: Int) -> [Completion] {
    completions.removeValue(forKey: number) ?? []
  }

  mutating func removeAll() -> [Completion] {
    exchange(&completions, with: [:]).values.flatMap(\.self)
  }
}
