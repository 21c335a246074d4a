import Intake
import LiveEvents
import RateLimiting
import RecorderFeature
import Testing

@Suite struct RecorderIntakeTests {
  private typealias Output = IntakeOutput<RecorderFeature.Action>

  @Test func `a million steps are at most a hundred actions, and the last one is exact`() {
    var intake = RecorderIntake()
    var output = Output()
    let steps = 1_000_000
    for step in 0...steps {
      let now = Instant(nanoseconds: Int64(step) * 10_000)
      intake.receive(progress(step, of: steps), timestamp: 0, at: now, into: &output)
    }
    #expect(output.actions.count <= 100)
    #expect(output.actions.last == .progressed(reading(steps, of: steps)))
    #expect(intake.pending == 0)
    #expect(output.applied + output.coalesced == steps + 1)
  }

  @Test func `without a total there is one action per second, and the last report arrives`() {
    var intake = RecorderIntake()
    var output = Output()
    for step in 0..<50 {
      let now = Instant(nanoseconds: Int64(step) * 100_000_000)
      intake.wake(at: now, into: &output)
      intake.receive(progress(step, of: nil), timestamp: 0, at: now, into: &output)
    }
    #expect(output.actions.count == 5)
    intake.wake(at: Instant(nanoseconds: 6_000_000_000), into: &output)
    #expect(output.actions.last == .progressed(reading(49, of: nil)))
    #expect(output.applied + output.coalesced == 50)
  }

  @Test func `a state does not overtake earlier progress`() {
    var intake = RecorderIntake()
    var output = Output()
    intake.receive(.state(.recording), timestamp: 0, at: .origin, into: &output)
    intake.receive(progress(500, of: 1_000), timestamp: 0, at: .origin, into: &output)
    intake.receive(progress(501, of: 1_000), timestamp: 0, at: .origin, into: &output)
    #expect(intake.pending == 1)
    intake.receive(.state(.stopping), timestamp: 0, at: .origin, into: &output)
    #expect(
      output.actions == [
        .stateChanged(.recording), .progressed(reading(500, of: 1_000)),
        .progressed(reading(501, of: 1_000)), .stateChanged(.stopping),
      ])
    #expect(intake.pending == 0)
  }

  @Test func `a new recording has its own progress`() {
    var intake = RecorderIntake()
    var output = Output()
    intake.receive(progress(90, of: 100), timestamp: 0, at: .origin, into: &output)
    intake.receive(.state(.starting), timestamp: 0, at: .origin, into: &output)
    output.actions = []
    intake.receive(progress(2, of: 100), timestamp: 0, at: .origin, into: &output)
    #expect(output.actions == [.progressed(reading(2, of: 100))])
  }

  private func reading(_ done: Int, of total: Int?) -> RecorderProgress {
    RecorderProgress(bytes: done * 10, durationMilliseconds: done, done: done, total: total)
  }

  private func progress(_ done: Int, of total: Int?) -> RecorderEvent {
    .progress(reading(done, of: total))
  }
}
