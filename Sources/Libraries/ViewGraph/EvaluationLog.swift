/// The newest evaluations of each kind of view, in a bounded ring per name. Not `Sendable`: it
/// belongs to the lane of its graph.
public struct EvaluationLog {
  private var rings: [String: Ring] = [:]
  private let capacity: Int

  /// - Parameter capacity: The maximum number of evaluations to keep per kind of view.
  public init(capacity: Int = 64) {
    precondition(capacity > 0)
    self.capacity = capacity
  }

  /// Adds a record. If the ring of the view's name is full, its oldest record is removed. O(1).
  public mutating func add(_ record: EvaluationRecord) {
    rings[record.name, default: Ring()].add(record, capacity)
  }

  /// Returns the records of the views with this name, oldest first.
  public func records(of view: String) -> [EvaluationRecord] { rings[view]?.ordered ?? [] }

  private struct Ring {
    var records: [EvaluationRecord] = []
    /// The index of the oldest record once the ring is full.
    var oldest = 0

    mutating func add(_ record: EvaluationRecord, _ capacity: Int) {
      if records.count < capacity {
        records.append(record)
      } else {
        records[oldest] = record
        oldest = (oldest + 1) % capacity
      }
    }

    var ordered: [EvaluationRecord] { Array(records[oldest...] + records[..<oldest]) }
  }
}
