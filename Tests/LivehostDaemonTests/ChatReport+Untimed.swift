import ControlInterface

extension ChatReport {
  /// Without what decays as time passes: rooms live on between their last event and a report of them.
  var untimed: ChatReport {
    var report = self
    report.rate = 0
    report.recent = nil
    return report
  }
}
