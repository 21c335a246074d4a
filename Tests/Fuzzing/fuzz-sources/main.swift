import FuzzSupport

try fuzz([
  "twitch": { TwitchSourceParser() },
  "twitchevents": { TwitchEventsParser() },
  "obs": { ObsParser() },
  "socialstream": { SocialStreamParser() },
  "webhook": { try WebhookParser() },
  "mapping": { MappingParser() },
])
