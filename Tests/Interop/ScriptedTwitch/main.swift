// The scripted Twitch of the tests, for clients of others: prints its port, and takes orders on standard input:
// `say ID` to all who have joined, `line NUMBER LINE` to one, `wait NUMBER LINE` for the beginning of what one sends,
// `faults`. It ends with them.

import Glibc
import NIOPosix
import SourceTestSupport

setvbuf(stdout, nil, _IOLBF, 0)
let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
let twitch = try await TestTwitch(group)
print("port \(twitch.port)")
while let line = readLine() {
  let words = line.split(separator: " ", maxSplits: 2).map(String.init)
  switch words.first {
  case "say" where words.count == 2: try await twitch.say(words[1])
  case "line" where words.count == 3:
    try await twitch.send(words[2] + "\r\n", to: Int(words[1]) ?? 0)
  case "wait" where words.count > 1:
    await twitch.wait(for: words.dropFirst().joined(separator: " "))
    print("heard")
  case "faults": print("faults \(try await twitch.faults())")
  default: print("unknown: \(line)")
  }
}
try await twitch.stop()
