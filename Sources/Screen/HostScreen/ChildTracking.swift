package import Composable
import HostFeature

/// Whether the host's view depends on the states of its children as a whole.
///
/// Chosen at run time, so that before and after can be compared in one program.
package enum ChildTracking: String, Sendable, CaseIterable {
  /// The host's view is evaluated when anything in a child changes, and then evaluates the views of
  /// all children, because it makes new inputs for them.
  case tracked
  /// A change in a child evaluates only the views that read it: the fields of the children are
  /// `@ObservationStateIgnored`.
  case ignored

  package var ignoredFields: FieldSet {
    switch self {
    case .tracked: []
    case .ignored: HostFeature.State._$ignoredFields
    }
  }
}
