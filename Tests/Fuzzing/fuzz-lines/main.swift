import FuzzSupport
import WireFormats

try fuzz([
  "lines": { LineParser(nil) },
  "native": { LineParser(.native) },
  "irc": { LineParser(.twitchIRC) },
])
