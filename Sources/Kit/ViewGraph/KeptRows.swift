/// The rows that a view made for its last frame, so that the next one makes only those that are new.
///
/// For lists of which a frame shows the newest rows: from one frame to the next most of them stay. Keep one by
/// ``ViewContext/kept(_:)``.
///
///     context.kept(KeptRows<Line>.init).rows(for: lines) { $0.row }
public final class KeptRows<Input: Equatable> {
  private var kept: [(input: Input, row: ViewNode.ListRow)] = []

  /// No rows.
  public init() {}

  /// The rows of `inputs`, in their order.
  ///
  /// - Parameters:
  ///   - inputs: what the rows show, all that decides how they look.
  ///   - make: makes the row of one that was not among the inputs before, or was in another order.
  /// - Complexity: O(number of inputs) comparisons if only the first and the last ones differ from those before.
  public func rows(
    for inputs: [Input], _ make: (Input) -> ViewNode.ListRow
  ) -> [ViewNode.ListRow] {
    var rest = kept[...]
    kept = inputs.map { input in
      guard let index = rest.firstIndex(where: { $0.input == input }) else {
        return (input, make(input))
      }
      defer { rest = rest[(index + 1)...] }
      return rest[index]
    }
    return kept.map(\.row)
  }
}
