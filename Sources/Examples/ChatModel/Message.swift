/// A message as shown in a room.
package struct Message: Equatable, Identifiable, Sendable {
  package enum Delivery: Equatable, Sendable {
    /// In flight to the server.
    case pending
    case delivered
    /// The server did not receive the message. The user can send the message again.
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
