import LiveEvents

/// The origin that a line named last. Most lines of a connection name the same one, which is found without asking
/// what the process knows.
struct NamedOrigin {
  private var platform: Text = ""
  private var source: Text = ""
  private var origin = Origin.none

  mutating func origin(platform: Text, source: Text) -> Origin {
    if self.platform == platform, self.source == source { return origin }
    // Owned, so that no slab is kept alive.
    (self.platform, self.source) = (platform.owned(), source.owned())
    origin = Origin(platform: platform, source: source)
    return origin
  }
}
