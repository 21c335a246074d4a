package import Composable
import HostFeature

/// Whether the host's view depends on the whole states of its children. Chosen at run time, so that
/// one program can compare both variants.
package enum ChildTracking: String, Sendable, CaseIterable {
  /// Any change in a child evaluates the host's view, which evaluates the views of all children,
  /// because it creates new inputs for them.
  case tracked
  /// A change in a child evaluates only the views that read it. The fields of the children are
  /// `@ObservationStateIgnored`.
  case ignored

  package var ignoredFields: FieldSet {
    switch self {
    case .tracked: []
    case .ignored: HostFeature.State._$ignoredFields
    }
  }
}
