import Foundation
import Synchronization

// `probe MODE` runs threads that share a counter. In the mode `guarded` a Mutex protects the
// counter, and no sanitizer may report anything. The modes `race` and `overflow` contain an error
// that the thread sanitizer or the address sanitizer must report.

final class Counter: @unchecked Sendable {
  let mutex = Mutex(())
  var value = 0
}

let mode = CommandLine.arguments[1]
if mode == "overflow" {
  let bytes = UnsafeMutablePointer<UInt8>.allocate(capacity: 8)
  bytes.initialize(repeating: 0, count: 8)
  print(bytes[CommandLine.arguments.count + 7])
}
let counter = Counter()
let group = DispatchGroup()
for _ in 0..<4 {
  group.enter()
  let thread = Thread {
    for _ in 0..<100_000 {
      if mode == "race" {
        counter.value += 1
      } else {
        counter.mutex.withLock { _ in counter.value += 1 }
      }
    }
    group.leave()
  }
  thread.start()
}
group.wait()
print(counter.value)
