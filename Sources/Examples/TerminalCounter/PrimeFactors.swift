/// Returns the prime factors of `number` in ascending order, with repetitions. Returns none if
/// `number` is below 2.
///
/// Yields regularly to other tasks, and throws `CancellationError` if cancelled. Takes O(√`number`)
/// divisions.
package func primeFactors(of number: Int) async throws -> [Int] {
  guard number > 1 else { return [] }
  var factors: [Int] = []
  var rest = number
  var divisor = 2
  while divisor <= rest / divisor {
    while rest.isMultiple(of: divisor) {
      factors.append(divisor)
      rest /= divisor
    }
    divisor += 1
    if divisor.isMultiple(of: 100_000) {
      await Task.yield()
      try Task.checkCancellation()
    }
  }
  if rest > 1 { factors.append(rest) }
  return factors
}
