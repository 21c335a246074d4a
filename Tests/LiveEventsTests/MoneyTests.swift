import LiveEvents
import Testing

/// The text format of amounts of money.
struct MoneyTests {
  @Test(arguments: [
    (500, 2, "USD", "5.00 USD"), (7, 2, "EUR", "0.07 EUR"), (7500, 0, "KRW", "7500 KRW"),
    (0, 2, "USD", "0.00 USD"), (12_345, 3, "KWD", "12.345 KWD"), (500, 2, nil, "5.00"),
    (-250, 2, "USD", "-2.50 USD"),
  ])
  func `an amount of money has all the decimal digits of its currency`(
    units: Int, places: Int, currency: String?, text: String
  ) {
    #expect(Money(units: units, places: places, currency: currency).text == text)
  }
}
