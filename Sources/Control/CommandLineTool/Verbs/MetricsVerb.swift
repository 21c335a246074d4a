import ArgumentParser
import ControlInterface
import JSON
import Prometheus
import Wording

struct MetricsVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "metrics", abstract: "Print the daemon's metrics for Prometheus.",
    discussion: """
      Prints the text format that Prometheus scrapes. If you run node_exporter, let a timer write \
      this output to a file NAME.prom in the directory of the textfile collector.

      JSON: an object with metrics, an array of objects with name, kind, help and samples.
      """)

  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run(_ context: Context) async throws {
    let metrics = try await context.withDaemon { try await $0.getMetrics().metrics }
    try context.print(JSONValue(encoding: GetMetricsReply(metrics: metrics))) {
      let text = ExpositionFormat.text(metrics)
      // The line ending of the last line is removed, because the console adds a line ending.
      return text.isEmpty ? [] : [String(text.dropLast())]
    }
  }
}
