import LiveEvents

/// Caches the origin that the last line named. Most lines of a connection name the same origin, so
/// the cache avoids a look-up in the process-wide table.
struct NamedOrigin {
  private var platform: Text = ""
  private var source: Text = ""
  private var origin = Origin.none

  mutating func origin(platform: Text, source: Text) -> Origin {
    if self.platform == platform, self.source == source { return origin }
    // The cache owns its texts, so that it keeps no slab alive.
    (self.platform, self.source) = (platform.owned(), source.owned())
    origin = Origin(platform: platform, source: source)
    return origin
  }
}
