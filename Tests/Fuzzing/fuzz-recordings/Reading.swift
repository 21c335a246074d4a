@testable import Recordings

/// All that a reader gives out of a recording.
struct Reading: Equatable {
  private(set) var steps: [RecordedStep] = []
  /// What it says is wrong, which is the last thing it says.
  private(set) var damage: Damage?

  init(_ files: RecordingFiles) throws(RecordingError) {
    var reader = RecordingReader(files)
    do throws(RecordingError) {
      while try reader.read(into: &steps) {}
    } catch .damaged(_, let found) {
      damage = found
    }
  }

  /// Whether another reading gave out nothing else up to where this one ended.
  func isBeginning(of other: Reading) -> Bool { other.steps.starts(with: steps) }
}
