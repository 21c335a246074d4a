/// Who keeps what was delivered, and may fail to: a recorder. May be used from any thread.
public protocol Durability: AnyObject, Sendable {
  /// Why something that it was to keep is lost, as a sentence for people; `nil` while nothing is.
  var failureReason: String? { get }
}
