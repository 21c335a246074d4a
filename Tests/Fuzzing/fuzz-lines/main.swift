import ChatImport
import FuzzSupport
import WireFormats

try fuzz([
  "lines": { LineParser(nil) },
  "native": { LineParser(.native) },
  "irc": { LineParser(.twitchIRC) },
  "youtube": { RecordedChatParser(.youtube) },
  "eventsub": { RecordedChatParser(.eventSub) },
  "chatterino": { RecordedChatParser(.chatterino) },
  "downloader": { RecordedChatParser(.twitchDownloader) },
])
