package import Composable

/// The checkout of a shop during a sale: the basket, and offers whose stock changes constantly.
@Reducer
package struct Checkout {
  @ObservableState
  package struct State: Equatable, Sendable {
    package var payment: Payment = Payment.open
    /// Observed only by the basket's own view; see ``tracked``.
    @ObservationStateIgnored package var basket: Basket.State
    /// Observed only by the offers' own view, because offers change many times per second.
    @ObservationStateIgnored package var offers: Offers.State

    package init(lines: Int, offers: Int) {
      basket = Basket.State(lines: lines)
      self.offers = Offers.State(count: offers)
    }

    /// The set of ignored fields in the faulty variant. It is empty, so that views observe both
    /// children as a whole. The scenario finds this mistake.
    package static let tracked: FieldSet = []
  }

  package enum Payment: Equatable, Sendable { case open, underWay, paid, declined }

  package enum Action: Sendable {
    case basket(Basket.Action)
    case offers(Offers.Action)
    case payTapped
    case paid(Bool)
  }

  private let pay: @Sendable () async throws -> Bool

  /// - Parameter pay: Asks the bank for the payment. Returns whether the bank approved it.
  package init(pay: @escaping @Sendable () async throws -> Bool) { self.pay = pay }

  package var body: some ReducerOf<Self> {
    Scope(state: \.basket, action: \.basket) { Basket() }
    Scope(state: \.offers, action: \.offers) { Offers() }
    Reduce { state, action in
      switch action {
      case .payTapped:
        guard state.payment != .underWay, state.payment != .paid else { return .none }
        state.payment = .underWay
        return .run(name: "Checkout.pay") { [pay] send in
          send(.paid(try await pay()))
        } catch: { _, send in
          send(.paid(false))
        }
      case .paid(let isPaid):
        state.payment = isPaid ? .paid : .declined
        return .none
      case .basket, .offers: return .none
      }
    }
  }
}

/// The articles that the customer wants to buy.
@Reducer
package struct Basket {
  @ObservableState
  package struct State: Equatable, Sendable {
    package var amounts: [Int]

    package init(lines: Int) { amounts = Array(repeating: 1, count: lines) }
  }

  package enum Action: Sendable { case added(line: Int) }

  package func reduce(into state: inout State, action: Action) -> Effect<Action> {
    switch action {
    case .added(let line):
      if state.amounts.indices.contains(line) { state.amounts[line] += 1 }
    }
    return .none
  }
}

/// The other articles that the shop offers.
@Reducer
package struct Offers {
  @ObservableState
  package struct State: Equatable, Sendable {
    package var stock: [Int]

    package init(count: Int) { stock = Array(repeating: 500, count: count) }
  }

  package enum Action: Sendable {
    case sold([Int])
  }

  package func reduce(into state: inout State, action: Action) -> Effect<Action> {
    switch action {
    case .sold(let offers):
      for offer in offers where state.stock.indices.contains(offer) { state.stock[offer] -= 1 }
    }
    return .none
  }
}
