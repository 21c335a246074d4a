import FuzzSupport

try fuzz(["recording": { try RecordingParser() }])
