package import Composable
package import HangSimulation

/// The events of a checkout during a sale.
package enum SaleEvent: Sendable {
  case sold([Int])
  case added(line: Int)
  case payTapped
}

/// A sale on a mid-range phone, with and without a mistake in the checkout.
package enum SaleScenario {
  package static let offers = 40
  package static let lines = 60

  /// A mid-range phone with assumed, not measured, costs.
  package static let phone = Device(
    "phone", cores: 4,
    costs: DeviceProfile.Costs(
      action: .microseconds(80), element: .microseconds(80),
      view: .cost(.milliseconds(2), element: .microseconds(400), appearance: .milliseconds(3))
    ).view(
      BasketView.self,
      .cost(.milliseconds(4), element: .microseconds(600), appearance: .milliseconds(3)))
  )

  /// - Parameter ignored: The fields whose changes are not observed; `nil` uses the fields that the
  ///   state itself declares as ignored.
  package static func screen(ignoring ignored: FieldSet? = nil) -> SimulatedScreen<SaleEvent> {
    SimulatedScreen(
      CheckoutView(), state: { Checkout.State(lines: lines, offers: offers) }, ignoring: ignored,
      elements: { (action: Checkout.Action) -> Int in
        if case .offers(.sold(let sold)) = action { sold.count } else { 0 }
      },
      reducer: { (world: SimulatedWorld) -> Checkout in
        let bank = world.effect(
          "bank",
          EffectModel(latency: .milliseconds(300), spread: .milliseconds(200), failures: 0.1))
        return Checkout(pay: { try await bank.perform() })
      },
      on: { (event: SaleEvent) -> [Checkout.Action] in
        switch event {
        case .sold(let offers): [.offers(.sold(offers))]
        case .added(let line): [.basket(.added(line: line))]
        case .payTapped: [.payTapped]
        }
      })
  }

  /// Other customers buy at random, and very fast from the eighth to the twelfth second. The
  /// customer at this screen occasionally adds an article, and finally pays.
  package static let events: [EventStream<SaleEvent>] = [
    .poisson(every: .milliseconds(200)) { random in
      .sold([random.integer(in: 0...offers - 1)])
    },
    .poisson(every: .microseconds(3_800), from: .seconds(8), until: .seconds(12)) { random in
      .sold((1...5).map { _ in random.integer(in: 0...offers - 1) })
    },
    .poisson(every: .seconds(3)) { random in .added(line: random.integer(in: 0...lines - 1)) },
    .at(.seconds(25), .seconds(27), event: .payTapped),
  ]

  /// Compares the screen that observes its children as a whole with the screen that does not.
  package static func plan(seed: UInt64, thresholds: [Threshold] = []) -> SimulationPlan {
    SimulationPlan(
      "sale", seed: seed, duration: .seconds(30), devices: [phone, phone.slowed(by: 1.8)],
      variants: [
        screen(ignoring: Checkout.State.tracked).variant("tracked", events: events),
        screen().variant("ignored", events: events),
      ], thresholds: thresholds)
  }
}
