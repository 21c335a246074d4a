/// A cache of the rows that a view made for its last frame, so that the next frame makes only new
/// rows.
///
/// Use this cache for lists that show the newest rows: most rows stay the same between frames. Keep
/// the cache with ``ViewContext/kept(_:)``.
///
///     context.kept(KeptRows<Line>.init).rows(for: lines) { $0.row }
public final class KeptRows<Input: Equatable> {
  private var entries: [(input: Input, row: ViewNode.ListRow)] = []

  /// Makes an empty cache.
  public init() {}

  /// Returns the rows of `inputs`, in order. An input must determine its row completely. `make`
  /// makes the row of an input that is new or that has moved.
  ///
  /// - Complexity: O(n) comparisons for n inputs, if only the first and last inputs differ from the
  ///   previous call.
  public func rows(
    for inputs: [Input], _ make: (Input) -> ViewNode.ListRow
  ) -> [ViewNode.ListRow] {
    var rest = entries[...]
    entries = inputs.map { input in
      guard let index = rest.firstIndex(where: { $0.input == input }) else {
        return (input, make(input))
      }
      defer { rest = rest[(index + 1)...] }
      return rest[index]
    }
    return entries.map(\.row)
  }
}
