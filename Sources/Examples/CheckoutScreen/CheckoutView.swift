import Composable
package import ViewGraph

/// The whole checkout screen.
package struct CheckoutView: View {
  package static let name = "CheckoutView"

  package init() {}

  package func body(_ state: Observed<Checkout.State>, _ context: ViewContext) -> ViewNode {
    let payment =
      switch state.payment {
      case .open: "pay"
      case .underWay: "one moment"
      case .paid: "thank you"
      case .declined: "declined"
      }
    return .column([
      .badge(payment, .strong), context.child(BasketView(), state, \.basket),
      context.child(OffersView(), state, \.offers),
    ])
  }
}

/// Shows a row for each line of the basket.
package struct BasketView: View {
  package static let name = "BasketView"

  package func body(_ state: Observed<Basket.State>, _ context: ViewContext) -> ViewNode {
    .list(
      state.amounts.enumerated().map { line, amount in
        ViewNode.ListRow(id: "\(line)", .text("\(amount) x article \(line)"))
      })
  }
}

/// Shows the stock of each offer.
package struct OffersView: View {
  package static let name = "OffersView"

  package func body(_ state: Observed<Offers.State>, _ context: ViewContext) -> ViewNode {
    .list(
      state.stock.enumerated().map { offer, stock in
        ViewNode.ListRow(id: "\(offer)", .text("\(stock) left"))
      })
  }
}
