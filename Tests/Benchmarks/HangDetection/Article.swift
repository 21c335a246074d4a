/// The sample data of most screens.
struct Article: Identifiable, Equatable, Sendable {
  let id: Int
  var name: String
  var price: Int

  init(id: Int) {
    self.id = id
    name = "\(Self.colors[id % Self.colors.count]) \(Self.things[id / 7 % Self.things.count]) \(id)"
    price = 100 + id * 7_919 % 4_000
  }

  private static let colors = ["red", "blue", "green", "yellow", "black", "white", "grey"]
  private static let things = ["lamp", "chair", "table", "shelf", "sofa", "carpet", "mirror"]

  /// Returns a page of a catalogue.
  static func page(_ number: Int, of size: Int = 100) -> [Article] {
    (number * size..<(number + 1) * size).map { Article(id: $0) }
  }
}
