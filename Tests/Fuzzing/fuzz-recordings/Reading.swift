@testable import Recordings

/// Everything that a reader returns for a recording.
struct Reading: Equatable {
  private(set) var steps: [RecordedStep] = []
  /// The reported damage, which ends the reading.
  private(set) var damage: Damage?

  init(_ files: RecordingFiles) throws(RecordingError) {
    var reader = RecordingReader(files)
    do throws(RecordingError) {
      while try reader.read(into: &steps) {}
    } catch .damaged(_, let found) {
      damage = found
    }
  }

  /// Whether another reading starts with the same steps.
  func isBeginning(of other: Reading) -> Bool { other.steps.starts(with: steps) }
}
