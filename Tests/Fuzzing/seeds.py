#!/usr/bin/env python3
"""Writes the initial inputs for libFuzzer: `seeds.py DIRECTORY`.

Each parser gets a directory of inputs from the repository's files, and a dictionary of their words.
"""
import collections
import functools
import gzip
import random
import re
import sys
import tarfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "Tests/Interop"))
import fuzz_inputs as fuzz  # noqa: E402

COMPATIBILITY = sorted((ROOT / "Tests/Compatibility").glob("*/state.tar.gz"))
# For parsers of the formats of platforms and programs: the folder of the corpus, and a test with
# samples.
OTHERS = {
    "youtube": ("youtube", "ChatImportTests/RecordedChatTests"),
    "chatterino": ("chatterino", "ChatImportTests/RecordedChatTests"),
    "downloader": ("twitchdownloader", "ChatImportTests/RecordedChatTests"),
    "twitchevents": ("eventsub", "TwitchEventsTests/EventSubSessionTests"),
    "obs": ("obs", "ObsStudioTests/ObsSessionTests"),
    "socialstream": ("social-stream", "ChatImportTests/SocialStreamMessageTests"),
    "webhook": ("webhooks", "WebhooksTests/WebhookMappingTests"),
}


def others(folder, test):
    """Yields the files of the corpus, their lines, and the samples in a test: one-line Swift literals."""
    for path in sorted((ROOT / "Tests/Corpus" / folder).glob("*.*[!d]")):
        if not path.name.endswith(".expected.json"):
            yield path.read_bytes()
            # A line of an array of objects ends with a separator.
            yield from (line.strip(b" [],") + b"\n" for line in path.read_bytes().splitlines() if len(line) > 12)
    samples = re.findall(rb'#"([^\n]{12,})"#', (ROOT / "Tests" / f"{test}.swift").read_bytes())
    yield from (sample + b"\n" for sample in samples)
    yield b"".join(sample + b"\n" for sample in samples)[:8000]


def eventsub():
    """Also yields events of each kind of the corpus with the members that a test adds to an event."""
    found = list(others("eventsub", "ChatImportTests/EventSubTests"))
    yield from found
    for kind in sorted(set(re.findall(rb'"type": ?"(channel[a-z_.]+)"', b"".join(found)))):
        for members in (text.strip() for text in found if text.startswith(b',"')):
            yield b'{"subscription":{"type":"%s"},"event":{"broadcaster_user_login":"ada"%s}}\n' % (kind, members)


def distinct(lines, shape):
    """Returns the first line of each shape."""
    found = {}
    for line in lines:
        found.setdefault(shape(line), line)
    return list(found.values())


def batches(lines, size=3):
    """Yields each line alone and several lines together, since a decoder finds the tokens of many lines in one pass."""
    yield from (line + b"\n" for line in lines)
    for start in range(0, len(lines), size):
        yield b"\r\n".join(lines[start:start + size]) + b"\r\n"


def native():
    lines = fuzz.Lines.GOOD + [line for line in fuzz.Lines.BAD if len(line) < 1000]
    for path in sorted((ROOT / "Tests/Compatibility").glob("*/expected/*.jsonl")):
        lines += path.read_bytes().splitlines()
    lines += [b'{"type":"sync","token":"t"}', b'{"type":"options","room":"r","format":"native","clock":"event"}']
    return batches(distinct(lines, lambda line: re.sub(rb':("[^"]*"|[0-9.]+)', b"", line)))


def irc():
    lines = gzip.open(ROOT / "config/recordings/chat-burst.irc.gz", "rb").read().splitlines()
    def shape(line):
        return frozenset(re.findall(rb"[@;]([a-z-]+)=[^;\\ ]", line)), *re.findall(rb" ([A-Z]+) #", line)
    return batches(distinct(lines, shape)[:200])


def twitch():
    greeting = b":tmi.twitch.tv CAP * ACK :twitch.tv/tags twitch.tv/commands\r\n:tmi.twitch.tv 001 justinfan1 :hi\r\n"
    yield greeting + b":tmi.twitch.tv RECONNECT\r\nPING :tmi.twitch.tv\r\n:tmi.twitch.tv CAP * NAK :twitch.tv/tags\r\n"
    for text in irc():
        yield greeting + text


def mapping():
    for path in sorted((ROOT / "Sources/Connectors/Webhooks").glob("WebhookMapping+*.swift")):
        yield from (preset.encode() for preset in path.read_text().split('"""')[1::2])
    tests = (ROOT / "Tests/WebhooksTests/WebhookMappingTests.swift").read_text()
    yield from (match.encode() for match in re.findall(r"(?s)( *identifier: .*?)\n\n", tests))


def lines():
    """Yields lines of both formats for one connection."""
    natives, others = list(native()), list(irc())
    for number, text in enumerate(natives):
        yield text + others[number % len(others)] + text


def varlink():
    messages = fuzz.Messages(random.Random(1))
    for size in range(400):
        yield bytes([size % 256]) + b"".join(messages.message()[:600] + b"\0" for _ in range(1 + size % 3))


def interface():
    for path in sorted((ROOT / "Sources").rglob("*.varlink")):
        # Whole definitions are long, so each part is a separate input.
        for part in path.read_bytes().split(b"\n\n"):
            yield part if b"interface " in part else b"interface a.b\n" + part + b"\n"


def configuration():
    for path in [ROOT / "config/livehostd.yaml", *sorted((ROOT / "Tests/Compatibility").glob("*/*.yaml"))]:
        yield path.read_bytes()
        yield from re.findall(rb"(?m)^[a-z]+:\n(?:[ #].*\n)+", path.read_bytes())


def scenario():
    yield from (path.read_bytes() for path in sorted((ROOT / "config/scenarios").iterdir()))
    for path in sorted((ROOT / "Sources/Simulation").rglob("*.md")):
        yield from re.findall(rb"(?s)```yaml\n(.*?)```", path.read_bytes())
    header = b"name: a\nduration: 1s\ndevices: iphone-15-plus\nevents:\n"
    text = (ROOT / "config/scenarios/host-screen.yaml").read_bytes()
    for event in re.findall(rb"(?m)^  - .*\n(?:    .*\n)*", text.split(b"\nevents:\n")[1]):
        yield header + event


def device():
    return [path.read_bytes() for path in sorted((ROOT / "config/devices").iterdir())]


def saved(pattern):
    for path in COMPATIBILITY:
        with tarfile.open(path) as archive:
            for member in archive.getmembers():
                if re.search(pattern, member.name):
                    yield archive.extractfile(member).read()


def segments():
    """Segments of the parsers' recording. The parsers reject segments of other recordings."""
    for text in saved(r"\.ndjson$"):
        yield re.sub(rb'"name":"[^"]*"', b'"name":"fuzz-20261122T000000Z"', text, count=1)


def recording():
    """Segments, and short segments with the first line, twelve inner lines and the last line."""
    for segment in segments():
        lines = segment.splitlines(keepends=True)
        if len(segment) < 16_000:
            yield segment
        for start in range(0, len(lines), 12):
            yield b"".join(lines[:1] + lines[start + 1:start + 13] + lines[-1:])[:8000]


def recovery():
    """Recordings of one and two segments: intact, torn, and followed by an incomplete line."""
    for number, text in enumerate(recording()):
        second = text.replace(b'"segment":1', b'"segment":2', 1)
        yield text
        yield text + b"\0" + second[:len(second) * (number % 8) // 7]
        yield text[:-120] + b"\n{\n{"


def steps():
    """The inner lines of recordings, in groups of eight."""
    for text in segments():
        lines = [line for line in text.splitlines() if not line.startswith((b'{"type":"rec', b'{"type":"segmentEnd"'))]
        for start in range(0, len(lines), 8):
            yield lines[start:start + 8]


SYNCED = b'{"type":"segmentSynced"}'


def unchained(parts, number, end=b',"state":"finished","endedAt":1795314919307'):
    """Segments for the parsers that chain lines themselves, after the bytes that choose an accident. Every second
    recording is closed."""
    accident = bytes([number % 256, number // 11 % 6, number * 37 % 256, 0, number * 5 % 256])
    closed = [b"\n".join(part + [SYNCED, b'{"type":"segmentEnd"}']) for part in parts[:-1]]
    last = parts[-1] + [SYNCED, b'{"type":"segmentEnd"%s}' % end] * (number % 2)
    return accident + b"\0".join(closed + [b"\n".join(last)])


def chainedrecording():
    """Recordings of one to three segments with each kind of accident."""
    for number, lines in enumerate(steps()):
        lines.insert(2, SYNCED)
        size = -(-len(lines) // (1 + number % 3))
        yield unchained([lines[start:start + size] for start in range(0, len(lines), size)], number)


def chainedrecovery():
    yield from chainedrecording()
    # The first segment loses its first line, and the second segment is still empty.
    yield bytes([1, 0, 40, 0, 0]) + b'{"type":"frame","at":1}\0\n'


def log():
    """The logs of two rooms, with marks of all kinds."""
    for number, lines in enumerate(steps()):
        more = [
            b',"opened":1795314919307', b"", b',"recording":"fuzz-20261122T000000Z"', b"",
            b',"recording":"fuzz-20261122T000000Z","opened":1795314919307', b',"closed":true']
        batches = [
            [b'{"type":"change","at":0,"change":{"room":"%s","sequence":%d,"after":%d%s}}' % (
                [b"fuzz", b"main"][at % 2], 1 + at, max(0, at - 1), more[at // 2 % 6]),
             *lines[2 * (at - number):2 * (at - number + 1)], SYNCED] for at in range(number, number + 3)]
        yield unchained(batches if number % 2 else [sum(batches, [])], number, b"")


def snapshot():
    for text in saved(r"rooms/.*\.json$"):
        yield re.sub(rb'"room":"[a-z]+"', b'"room":"fuzz"', text)


def words(inputs):
    """Returns the words of the inputs, most frequent first."""
    counts = collections.Counter()
    for text in inputs:
        counts.update(set(re.findall(rb'"[A-Za-z][A-Za-z0-9_.-]{1,30}"|[A-Za-z][A-Za-z0-9_-]{2,30}', text)))
    # Every run gives the same words, even among equally frequent words.
    return sorted(counts, key=lambda word: (-counts[word], word))[:300]


def main():
    own = [lines, native, irc, eventsub, twitch, mapping, varlink, interface, configuration, scenario, device,
           recording, recovery, chainedrecording, chainedrecovery, log, snapshot]
    parsers = {parser.__name__: parser for parser in own}
    parsers |= {name: functools.partial(others, *row) for name, row in OTHERS.items()}
    for name, parser in parsers.items():
        directory = Path(sys.argv[1]) / name
        directory.mkdir(parents=True, exist_ok=True)
        inputs = list(parser())
        for number, text in enumerate(inputs):
            (directory / f"{number:04}").write_bytes(text)
        with open(f"{directory}.dict", "w", encoding="utf-8") as dictionary:
            for word in words(inputs):
                dictionary.write('"%s"\n' % word.decode().replace('"', '\\"'))
        print(f"{name}: {len(inputs)} inputs, the longest of {max(map(len, inputs))} bytes")


main()
