import ControlInterface

extension ChatReport {
  /// Returns the report without the values that decay over time. A room's clock keeps running
  /// between its last event and the report.
  var untimed: ChatReport {
    var report = self
    report.rate = 0
    report.recent = nil
    return report
  }
}
