/// The limits of what a room remembers about the sources of its figures.
public enum SourceLimits {
  /// The maximum number of sources whose figures a room keeps separately. Figures of further
  /// sources are counted but not shown. A host streams to few platforms, and untrusted senders
  /// choose the names of sources.
  @inlinable public static var sources: Int { 16 }
  /// The time in milliseconds after which a source's viewer count becomes stale. The slowest
  /// connector (Twitch) requests the number of viewers once a minute, so two requests have failed
  /// by then. A source that reports that it is connected never counts as silent, because some
  /// platforms report a number only when it changes.
  package static let viewersSilence: Int64 = 150_000
  /// The time in milliseconds after which the statistics of an encoder become stale. Connectors
  /// send statistics once per second while the stream is live.
  package static let statisticsSilence: Int64 = 15_000
  /// How long stale figures are kept, in milliseconds. An encoder or connector that restarts sends
  /// figures again within this time, so its restart does not change the sum.
  package static let staleness: Int64 = 30_000
  /// The longest time in milliseconds that one tick can add to a silence. Ticks are a second apart,
  /// so a longer time is a pause of the room or a wrong timestamp, and proves nothing about a
  /// source.
  package static let longestTick: Int64 = 10_000

  /// Returns the time in milliseconds that a tick at `time` adds to silences.
  package static func elapsed(from previous: Timestamp?, to time: Timestamp) -> Int64 {
    guard let previous, time > previous else { return 0 }
    let (elapsed, overflow) = time.subtractingReportingOverflow(previous)
    return overflow ? longestTick : min(elapsed, longestTick)
  }
}
