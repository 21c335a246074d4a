import BenchmarkKit
import WireFormats

/// Measures how fast lines are decoded into events, whose texts are never read. The floor only
/// searches for line ends.
func decodingBenchmarks(_ harness: Harness) {
  let native = DecodingWork.nativeMessages(count: 20_000)
  harness.measure("decode.split", operations: native.lineCount) {
    keep(native.slabs.reduce(0) { $0 + native.split($1) })
  }
  harness.measure("decode.native", bar: "<= 250 ns", operations: native.lineCount) {
    var decoder = LineDecoder()
    keep(native.slabs.reduce(0) { $0 + native.decode($1, with: &decoder) })
  }
  let irc = DecodingWork.ircMessages(count: 20_000)
  harness.measure("decode.irc", operations: irc.lineCount) {
    var decoder = LineDecoder()
    keep(irc.slabs.reduce(0) { $0 + irc.decode($1, with: &decoder) })
  }
}
