// Serves the scripted Twitch of the tests to programs of other authors. Prints its port, and reads
// orders from standard input: `say ID` sends a message to all clients that have joined, `line
// NUMBER LINE` sends a line to one client, `wait NUMBER PREFIX` waits for a line of a client, and
// `faults` prints the errors of clients. The program ends at the end of its input.

import Glibc
import NIOPosix
import SourceTestSupport

/// Prints a line without buffering.
func printLine(_ line: String) {
  var text = line + "\n"
  text.withUTF8 { _ = write(STDOUT_FILENO, $0.baseAddress, $0.count) }
}

let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
let twitch = try await TestTwitch(group)
printLine("port \(twitch.port)")
while let line = readLine() {
  let words = line.split(separator: " ", maxSplits: 2).map(String.init)
  switch words.first {
  case "say" where words.count == 2: try await twitch.say(words[1])
  case "line" where words.count == 3:
    try await twitch.send(words[2] + "\r\n", to: Int(words[1]) ?? 0)
  case "wait" where words.count > 1:
    await twitch.wait(for: words.dropFirst().joined(separator: " "))
    printLine("heard")
  case "faults": printLine("faults \(try await twitch.faults())")
  default: printLine("unknown: \(line)")
  }
}
try await twitch.stop()
