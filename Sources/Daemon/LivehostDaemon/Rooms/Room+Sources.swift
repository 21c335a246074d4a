import Composable
import ControlInterface
import HostFeature
import HostScreen
import LiveEvents
import SourcesFeature

extension Room {
  /// The room's sources, with their positions.
  var sources: [SourceReport] {
    (screen.store.state.sources?.sources ?? []).map {
      var report = SourceReport($0, in: name.description)
      report.position = known.position(of: report.source)
      return report
    }
  }

  /// Notes that sources have ended which did not say so: what is shown of them would stay as it is.
  func endSources(because reason: Text, _ haveEnded: (Text) -> Bool) {
    for source in screen.store.state.sources?.sources ?? [] where haveEnded(source.name) {
      guard let status = source.status, !status.isOver else { continue }
      _ = perform(.source(.state(status.ended(because: reason))))
    }
    log?.handOver()
  }
}
