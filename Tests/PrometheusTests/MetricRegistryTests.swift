import CoreMetrics
import Prometheus
import Testing

@Suite struct MetricRegistryTests {
  private let registry = MetricRegistry()

  private var text: String { ExpositionFormat.text(registry.families()) }

  @Test func `instruments of swift-metrics are exported as Prometheus text, sorted by name`() {
    registry.describe("b_rooms", help: "Open rooms.")
    registry.describe("a_events_total", help: "Events.")
    Counter(label: "a_events_total", dimensions: [("room", "main")], factory: registry)
      .increment(by: 2)
    Counter(label: "a_events_total", dimensions: [("room", "side")], factory: registry).increment()
    Gauge(label: "b_rooms", factory: registry).record(2)
    Meter(label: "c_level", factory: registry).set(0.5)
    #expect(
      text == """
        # HELP a_events_total Events.
        # TYPE a_events_total counter
        a_events_total{room="main"} 2
        a_events_total{room="side"} 1
        # HELP b_rooms Open rooms.
        # TYPE b_rooms gauge
        b_rooms 2
        # HELP c_level No description.
        # TYPE c_level gauge
        c_level 0.5

        """)
  }

  @Test func `a timer is exported as a histogram in seconds with cumulative buckets`() {
    registry.describe("turn_seconds", help: "Turns.", bounds: [0.001, 0.25])
    let timer = Timer(label: "turn_seconds", dimensions: [("lane", "0")], factory: registry)
    // A bound belongs to its own bucket.
    for duration: Int64 in [500_000, 1_000_000, 100_000_000, 900_000_000] {
      timer.recordNanoseconds(duration)
    }
    #expect(
      text == """
        # HELP turn_seconds Turns.
        # TYPE turn_seconds histogram
        turn_seconds_bucket{lane="0",le="0.001"} 2
        turn_seconds_bucket{lane="0",le="0.25"} 3
        turn_seconds_bucket{lane="0",le="+Inf"} 4
        turn_seconds_sum{lane="0"} 1.0015
        turn_seconds_count{lane="0"} 4

        """)
  }

  @Test func `metrics with equal labels share a series, and a destroyed metric is removed`() {
    let first = Counter(label: "a_total", dimensions: [("x", "1"), ("y", "2")], factory: registry)
    let second = Counter(label: "a_total", dimensions: [("y", "2"), ("x", "1")], factory: registry)
    first.increment()
    second.increment()
    #expect(text.contains("a_total{x=\"1\",y=\"2\"} 2\n"))
    first.destroy()
    #expect(text.isEmpty)
  }

  @Test func `a counter metric never decreases, and negative amounts are ignored`() {
    let counter = Counter(label: "a_total", factory: registry)
    counter.increment(by: 3)
    counter.increment(by: -2)
    #expect(text.hasSuffix("a_total 3\n"))
    FloatingPointCounter(label: "b_total", factory: registry).increment(by: 0.25)
    #expect(text.hasSuffix("b_total 0.25\n"))
  }

  @Test func `metric names and labels of other systems become valid Prometheus names`() {
    Gauge(label: "http.server/2xx", dimensions: [("my-label", "ä")], factory: registry).record(1)
    Gauge(label: "2nd", factory: registry).record(1)
    #expect(text.contains("http_server_2xx{my_label=\"ä\"} 1\n"))
    #expect(text.contains("\n_2nd 1\n"))
  }

  @Test func `values, labels and help texts of metrics are escaped as the format requires`() {
    var family = MetricFamily("a", .gauge, help: "One\nline with \\ and \"quotes\".")
    family.add(1, ["l": "a\\b\"c\nd"])
    family.add(.infinity)
    family.add(-.infinity)
    family.add(.nan)
    family.add(0.1)
    family.add(1e300)
    family.add(123_456_789)
    #expect(
      ExpositionFormat.text([family, MetricFamily("nothing", .counter, help: "Empty.")]) == #"""
        # HELP a One\nline with \\ and "quotes".
        # TYPE a gauge
        a{l="a\\b\"c\nd"} 1
        a +Inf
        a -Inf
        a NaN
        a 0.1
        a 1e+300
        a 123456789

        """#)
  }
}
