/// A message as a room shows it.
package struct Message: Equatable, Identifiable, Sendable {
  package enum Delivery: Equatable, Sendable {
    /// On its way to the server.
    case pending
    case delivered
    /// The server did not take it; it can be sent again.
    case failed
  }

  package let id: UInt64
  package var author: String
  package var text: String
  package var delivery: Delivery

  package init(id: UInt64, author: String, text: String, delivery: Delivery) {
    self.id = id
    self.author = author
    self.text = text
    self.delivery = delivery
  }
}
