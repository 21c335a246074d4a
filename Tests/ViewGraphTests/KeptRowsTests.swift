import Testing
import ViewGraph

struct KeptRowsTests {
  @Test func `only the rows of new elements are made, and the other rows are reused`() {
    let rows = KeptRows<Int>()
    var made: [Int] = []
    func show(_ inputs: [Int]) -> [String] {
      rows.rows(for: inputs) {
        made.append($0)
        return .init(id: "\($0)", .empty)
      }.map(\.id)
    }
    for (inputs, new) in [
      ([1, 2, 3], [1, 2, 3]), ([2, 3, 4], [4]), ([2, 4, 5], [5]), ([], []), ([5, 6], [5, 6]),
      ([6, 5], [5]), ([6, 6], [6]),
    ] {
      made = []
      #expect(show(inputs) == inputs.map { "\($0)" })
      #expect(made == new)
    }
  }
}
