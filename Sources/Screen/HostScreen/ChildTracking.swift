package import Composable
import HostFeature

/// Whether the host's view depends on the states of its children as wholes.
///
/// Chosen at run time, so that before and after are compared in one program.
package enum ChildTracking: String, Sendable, CaseIterable {
  /// The host's view is evaluated when anything in a child changes, and then evaluates the views of
  /// all children, whose inputs it made anew.
  case tracked
  /// A child's change evaluates the views that read it, and no other: the fields of the children are
  /// `@ObservationStateIgnored`.
  case ignored

  package var ignoredFields: FieldSet {
    switch self {
    case .tracked: []
    case .ignored: HostFeature.State._$ignoredFields
    }
  }
}
