/// An amount of money as platforms send it: an integer in the smallest unit of a currency.
package struct Money {
  package var units: Int
  /// The number of decimal digits of the currency.
  package var places: Int
  /// The code of the currency, such as `EUR`, if the platform provides one.
  package var currency: String?

  package init(units: Int, places: Int, currency: String?) {
    self.units = units
    self.places = places
    self.currency = currency
  }

  /// The maximum number of decimal digits of a currency.
  package static let maximumPlaces = 6

  /// The amount with all decimal digits and the currency, such as `5.00 USD`.
  package var text: String {
    let digits = String(units.magnitude)
    let padded = String(repeating: "0", count: max(0, places + 1 - digits.count)) + digits
    let amount =
      places > 0 ? "\(padded.dropLast(places)).\(padded.suffix(places))" : digits
    return [units < 0 ? "-\(amount)" : amount, currency].compactMap(\.self)
      .joined(separator: " ")
  }
}
