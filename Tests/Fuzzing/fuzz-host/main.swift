import FuzzSupport

try fuzz([
  "configuration": { ConfigurationParser() },
  "scenario": { try ScenarioParser() },
  "device": { try DeviceParser() },
  "snapshot": { try SnapshotParser() },
])
