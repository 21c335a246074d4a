import HangSimulation
import LiveEvents

extension GeneratedType {
  static let waitingRoom = [
    GeneratedType("waiting.join") { .waitingRoom(.join($1.join())) },
    GeneratedType("waiting.leave") { .waitingRoom(.leave($1.leave())) },
    GeneratedType("waiting.admit") { .waitingRoom(.admitted($1.leave())) },
  ]
}
