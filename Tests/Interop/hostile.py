"""Messages with text that is cheap to send but possibly expensive to read, for each place that accepts text.

Each list has pairs of a place and a template. In a template TEXT stands for the text, SHORT for its beginning, which
is short enough for a name, BASE64 for an encoded room with that name, and NUMBER for a unique number.
"""
import base64
import itertools
import json
import re

from harness.varlink import CONTROL

NUMBERS = itertools.count()


def nasty(size):
    """Yields each kind of text that is slow to compare, search or hash by the rules of Unicode, with its name."""
    yield "regional indicators", "\U0001F1E6" * (size // 4)
    yield "alternating marks", "\u0301\u0316" * (size // 4)
    yield "unordered marks", "\u0301" * (size // 4) + "\u0316" * (size // 4)
    yield "joiners", "\U0001F469\u200D" * (size // 7)
    yield "jamo", "\u1100\u1161" * (size // 6)


def shapes(size):
    """Yields messages with a hostile structure: `size` members, or other elements in proportion to `size`."""
    many = ",".join(f'"m{index}":0' for index in range(size))
    yield f"{size} members", b'{"method":"a.b",' + many.encode() + b"}\0"
    yield f"{size} parameters", b'{"method":"a.b","parameters":{' + many.encode() + b"}}\0"
    yield f"depth {size // 40}", b'{"method":"a.b","parameters":' + b'{"a":' * (size // 40) + b"\0"
    yield f"{size * 5} elements", b'{"method":"a.b","parameters":{"a":[' + b"0," * size * 5 + b"0]}}\0"
    yield "a long number", b'{"method":"a.b","parameters":{"a":' + b"7" * size * 10 + b"}}\0"
    yield "a long name", b'{"' + b"\xcc\x81\xcc\x96" * (size * 5 // 2) + b'":0}\0'


def filled(template, text):
    """Returns the message of a template with this text."""
    message = template.replace("TEXT", text).replace("SHORT", text[:40]).replace("NUMBER", str(next(NUMBERS)))
    if "BASE64" in message:
        message = message.replace("BASE64", base64.b64encode(json.dumps({"room": text}).encode()).decode())
    return message.encode()


def call(name, parameters):
    """Returns a call of a method, with the flag more if the name ends with +. Without a name, returns the message."""
    method = name.rstrip("+")
    message = {"method": method if "." in method else CONTROL + method, "parameters": parameters,
               "more": name.endswith("+")} if name else parameters
    return json.dumps(message) + "\0"


def event(name, members):
    """Returns an event of a type. Without a type, returns the members alone."""
    return json.dumps({**({"type": name} if name else {}), **members}) + "\n"


def irc(tags="", command="PRIVMSG", parameters="#main :a", nick="b"):
    return (f"@id=a;user-id=b;display-name=b;tmi-sent-ts=1{tags} :{nick}!{nick}@tmi.twitch.tv {command} {parameters}"
            "\r\n")


def rows(message, table):
    """Yields the places and templates of a table. A row has a place and messages, separated by semicolons, each with a
    name and an object. A message with <x> gives one template per <x>: TEXT replaces this <x>, and x every other <x>."""
    for row in re.split(r"\n(?! )", table.strip()):
        place, messages = row.split(": ", 1)
        for name, members in re.findall(r"([^\s;]*) ?(\{.*?\})(?:;\s+|$)", messages, re.DOTALL):
            template = message(name, json.loads(members.replace("USER", '{"id":"b","name":"b"}')))
            for chosen in [mark.start() for mark in re.finditer("<", template)] or [None]:
                yield place, re.sub(
                    "<(.*?)>", lambda mark: "TEXT" if mark.start() == chosen else mark[1], template)


SIMULATION = {"path": "a", "scenario": "", "files": [], "devices": [], "variants": [], "settings": [],
              "thresholds": [], "wantsPage": False, "wantsTrace": False}
CALLS = [
    *rows(call, """
method: {"method":"TEXT"}
method of an interface: {"method":"io.livehost.Control.TEXT"}
interface: {"method":"TEXT.Echo"}
member: {"method":"io.livehost.Control.GetStatus","TEXT":0}
parameter: GetStatus {"TEXT":0}
two members: GetStatus {"TEXT":0,"TEXTx":1}
interface description: org.varlink.service.GetInterfaceDescription {"interface":"TEXT"}
room: GetRoom {"room":"TEXT"}
feature: GetRoom {"room":"main","feature":"TEXT"}
features: MonitorRoom {"room":"main","features":["TEXT"]}
view: Explain {"room":"main","view":"TEXT"}
recordings of a room: ListRecordings {"room":"TEXT"}
task: CancelTask {"task":"TEXT"}
recording: StartTask+ {"kind":"export","recording":"TEXT"}
kind: StartTask {"kind":"TEXT"}
control: SetControl {"room":"main","control":"TEXT","value":1}
filter: SetChatFilter {"room":"main","words":"TEXT"}
names: SetMentionedNames {"room":"main","names":["TEXT"]}
thread: ShowThread {"room":"main","message":"TEXT"}
person: ShowPerson {"room":"main","user":"TEXT"}
note: NotePerson {"room":"main","user":"a","text":"TEXT"}
positions: GetPositions {"room":"TEXT"}
sources: ListSources {"room":"TEXT"}
recording to delete: DeleteRecording {"recording":"TEXT"}
recording to verify: VerifyRecordings+ {"recording":"TEXT"}
request: ReportOutcome {"identifier":"TEXT","outcome":"confirmed"}
act: Act {"room":"main","kind":"say","text":"TEXT"}
event: SendEvents {"events":[{"type":"title","title":"TEXT"}]}
member of an event: SendEvents {"events":[{"type":"viewers","TEXT":1}]}
type of an event: SendEvents {"events":[{"type":"TEXT"}]}
rooms: OpenRoom {"room":"TEXT"}; CloseRoom {"room":"TEXT"}; StartRecording {"room":"TEXT"};
  PauseRecording {"room":"TEXT"}; ResumeRecording {"room":"TEXT"}; StopRecording {"room":"TEXT"};
  VerifyRecordings+ {"room":"TEXT"}; StartTask+ {"room":"TEXT","kind":"export"}; MonitorRoom+ {"room":"TEXT"};
  MonitorScreen+ {"room":"TEXT"}; MonitorRequests+ {"room":"TEXT"}; Explain {"room":"TEXT","view":"a"};
  RecordElsewhere {"room":"TEXT","wish":"start"}; SetControl {"room":"TEXT","control":"a","value":1};
  Admit {"room":"TEXT","all":true}; SetChatFilter {"room":"TEXT","words":"a"};
  SetMentionedNames {"room":"TEXT","names":[]}; ScrollChat {"room":"TEXT","position":"end"};
  ShowPerson {"room":"TEXT","user":"a"}; NotePerson {"room":"TEXT","user":"a","text":"a"};
  ShowThread {"room":"TEXT","message":"a"}; HandleNotice {"room":"TEXT","notice":1,"handling":"pin"};
  HandleActivity {"room":"TEXT","activity":1,"handling":"pin"}; SendEvents {"room":"TEXT","events":[]}
recordings: ListRecordings {"before":"TEXT"}; ListRecordings {"room":"TEXT"};
  StartTask+ {"kind":"verify","recording":"TEXT"}
requests: MonitorRequests+ {"room":"main","controls":["TEXT"]}; ReportOutcome {"identifier":"a","outcome":"TEXT"};
  ReportOutcome {"identifier":"a","outcome":"refused","reason":"TEXT"};
  MonitorRequests+ {"room":"main","platform":"TEXT"}; MonitorRequests+ {"room":"main","source":"TEXT"};
  MonitorRequests+ {"room":"main","acts":["TEXT"]}
acts on platforms: Act {"room":"TEXT","kind":"mark"}; Act {"room":"main","kind":"TEXT"};
  Act {"room":"main","kind":"delete","message":"TEXT"}; Act {"room":"main","kind":"mark","platform":"TEXT"};
  Act {"room":"main","kind":"mark","source":"TEXT"}; Act {"room":"main","kind":"mark","by":"TEXT"};
  Act {"room":"main","kind":"ban","user":{"id":"TEXT","name":"a"},"reason":"TEXT"}
acts of the host: RecordElsewhere {"room":"main","wish":"TEXT"}; Admit {"room":"main","user":"TEXT"};
  SetChatFilter {"room":"main","user":"TEXT"}; SetChatFilter {"room":"main","platform":"TEXT"};
  ShowPerson {"room":"main","user":"a","platform":"TEXT"}; NotePerson {"room":"main","user":"TEXT","text":"a"};
  NotePerson {"room":"main","user":"a","platform":"TEXT","text":"a"};
  ScrollChat {"room":"main","position":"TEXT"}; HandleNotice {"room":"main","notice":1,"handling":"TEXT"};
  HandleActivity {"room":"main","activity":1,"handling":"TEXT"}
members of events: SendEvents {"events":[{"type":"title","title":"a","room":"TEXT"}]};
  SendEvents {"events":[{"type":"title","title":"a","platform":"TEXT"}]};
  SendEvents {"events":[{"type":"chat.message","id":"a","user":USER,"text":"TEXT"}]};
  SendEvents {"events":[
    {"type":"chat.message","id":"a","user":{"id":"TEXT","name":"TEXT","badges":["TEXT"]},"text":"a"}]};
  SendEvents {"events":[{"type":"poll.begin","id":"a","title":"<a>","options":["<a>"]}]};
  SendEvents {"events":[{"type":"source.state","source":"a","state":"live","reason":"TEXT"}]};
  SendEvents {"events":[{"type":"host.filter","words":"TEXT"}]};
  SendEvents {"events":[{"type":"host.highlight","names":["TEXT"]}]}
replication: io.livehost.Replication.SaveRoom+ {"room":"TEXT"};
  io.livehost.Replication.OpenRoom {"room":"<main>","source":"<a>","sequence":1};
  io.livehost.Replication.LoadRoom {"room":"TEXT","index":0,"part":"","isLast":true};
  io.livehost.Replication.LoadRoom {"room":"copy","index":0,"part":"TEXT","isLast":true};
  io.livehost.Replication.LoadRoom {"room":"copy","index":0,"part":"BASE64","isLast":true};
  io.livehost.Replication.PerformAct+ {"room":"<main>","source":"<a>","sequence":1,"event":"<{}>"};
  io.livehost.Replication.FindMessage {"room":"TEXT","number":1}
"""),
    *((f"{name} of a simulation", call("Simulate", {**SIMULATION, name: value})) for name, value in {
        "path": "TEXT", "scenario": "TEXT", "files": [{"path": f"TEXT{end}", "contents": ""} for end in "ab"],
        "devices": ["TEXT"], "variants": ["TEXT"], "settings": ["TEXT"], "thresholds": ["TEXT"]}.items()),
    ("key of a scenario", call("Simulate", {**SIMULATION, "scenario": '"TEXT": 1'})),
]

# Lines of a sender, each with the text TEXT in another member.
LINES = list(rows(event, """
type: TEXT {}
title: title {"title":"TEXT"}
member: title {"TEXT":"a"}
room: title {"title":"a","room":"TEXT"}
state: stream {"state":"TEXT"}
control: slider {"control":"TEXT","phase":"begin"}
phase: slider {"control":"a","phase":"TEXT","value":0}
recorder: recorder.state {"state":"TEXT"}
tap: tap {"control":"TEXT"}
reaction: reaction {"kind":"TEXT","count":1}
person: waiting.join {"user":{"id":"TEXT","name":"b"}}
name: waiting.join {"user":{"id":"a","name":"TEXT"}}
text: chat.message {"id":"a","user":USER,"text":"TEXT"}
author: chat.message {"id":"a","user":{"id":"b","name":"TEXT"},"text":"a"}
notice: chat.notice {"kind":"TEXT","user":USER,"count":1}
"""))

# Lines with the text in further members. Accepted messages need unique identifiers.
FURTHER_LINES = [
    *rows(event, """
chat.message: chat.message {"id":"<a>","user":{"id":"<b>","name":"b","badges":["<c>"],"color":"<#ff0000>"},"text":"a",
    "replyTo":"<a>","channel":"<a>","platform":"<a>","source":"<a>"};
  chat.message {"id":"a","user":USER,"text":"a","ts":"TEXT"};
  chat.message {"id":"a","user":{"id":"b","name":"b","TEXT":"a"},"text":"a"}
moderation: chat.delete {"id":"TEXT"}; chat.timeout {"user":"TEXT"};
  chat.timeout {"user":{"id":"TEXT","name":"TEXT"}}
chat.notice: chat.notice {"kind":"gift","user":{"id":"<b>","name":"<b>"},"count":1,"group":"<a>"};
  chat.notice {"kind":"gift","user":USER,"count":1,"id":"TEXT"}
polls: poll.begin {"id":"<a>","title":"<a>","options":["a","b"]};
  poll.begin {"id":"a","title":"a","options":["TEXT","TEXT"]}; poll.votes {"id":"TEXT","totals":[1,2]};
  poll.end {"id":"TEXT"}
predictions: prediction {"state":"<open>","id":"<a>","title":"<a>","options":["a","b"]};
  prediction {"state":"open","id":"a","title":"a","options":["TEXT","TEXT"]}
goals and hype trains: goal {"title":"TEXT","count":1,"target":2}; hypeTrain {"phase":"TEXT","level":1}
follows, redemptions, announcements: follow {"user":{"id":"TEXT","name":"TEXT"}}; follow {"user":USER,"id":"TEXT"};
  redemption {"user":USER,"title":"<a>","text":"<a>"}; redemption {"user":USER,"title":"a","id":"TEXT"};
  announcement {"text":"TEXT"}; announcement {"text":"a","id":"TEXT"};
  announcement {"text":"a","user":{"id":"TEXT","name":"TEXT"}}
controls: meter {"input":"TEXT","levels":[0.5]}; control.state {"control":"TEXT","value":0.5};
  tap {"control":"TEXT","on":true}
people who wait: waiting.leave {"user":"TEXT"}; waiting.leave {"user":{"id":"TEXT","name":"TEXT"}};
  waiting.admit {"user":"TEXT"}; waiting.admit {"user":{"id":"TEXT","name":"TEXT"}}
sources: source.state {"source":"<a>","state":"<live>","platform":"<a>","reason":"<a>"};
  gap {"source":"<a>","from":1,"to":2,"reason":"<a>"}
acts: host.admit {"user":"TEXT"}; host.set {"control":"TEXT","value":0.5}; host.filter {"user":"TEXT"};
  host.filter {"words":"TEXT"}; host.filter {"platform":"TEXT"}; host.highlight {"names":["TEXT","TEXT"]};
  host.person {"user":"TEXT"}; host.person {"user":"a","platform":"TEXT"};
  host.note {"user":"TEXT","text":"a"}; host.note {"user":"a","text":"TEXT"};
  host.scroll {"position":"TEXT"}; host.thread {"message":"TEXT"}; host.activity {"activity":1,"handling":"TEXT"};
  host.notice {"notice":1,"handling":"TEXT"}; host.filter {}
an accepted message: chat.message {"id":"mNUMBER","user":USER,"text":"TEXT"}
"""),
    # This message is compared with the words of a filter and with highlighted names.
    ("a message that is filtered", "".join(template for _, template in rows(event, """
1: host.filter {"words":"SHORT"}; host.highlight {"names":["SHORT"]};
  chat.message {"id":"mNUMBER","user":USER,"text":"TEXT"}; host.filter {}; host.highlight {"names":[]}
"""))),
    *(("tags of IRC", template) for template in [
        irc().replace("=a;", "=TEXT;"), irc().replace("-id=b", "-id=TEXT"), irc().replace("name=b", "name=TEXT"),
        irc().replace("ts=1", "ts=TEXT"),
        *(irc(f";{name}=TEXT") for name in (
            "badges", "bits", "reply-parent-msg-id", "source-room-id", "color", "emotes", "TEXT")),
        *(irc(f";msg-id=subgift;{name}=TEXT", "USERNOTICE") for name in (
            "login", "msg-param-community-gift-id", "msg-param-origin-id", "msg-param-cumulative-months")),
        irc(";msg-id=TEXT", "USERNOTICE"), irc(";target-msg-id=TEXT", "CLEARMSG"),
        irc(";target-user-id=TEXT;ban-duration=TEXT", "CLEARCHAT"), irc(";slow=TEXT", "ROOMSTATE", "#main")]),
    *(("commands of IRC", template) for template in [
        irc("", "TEXT"), irc("", "PRIVMSG", "#TEXT :a"), irc("", "PRIVMSG", "TEXT :a"),
        irc("", "PRIVMSG", "#main :TEXT"), irc("", "PRIVMSG", "#main :\x01ACTION TEXT\x01"),
        irc("", "USERNOTICE", "#main :TEXT"), irc("", "CLEARCHAT", "#main :TEXT"), irc("", "PING", ":TEXT"),
        irc("", "PRIVMSG", "#main TEXT SHORT :a"), irc(nick="TEXT")]),
]

# Control lines, which affect later lines of their connection.
LINES_TO_CONNECTION = list(rows(event, """
sync: sync {"token":"TEXT"}
options: options {"room":"TEXT"}; options {"format":"TEXT"}; options {"platform":"TEXT"}; options {"source":"TEXT"};
  options {"clock":"TEXT"}
position: position {"source":"TEXT","sequence":1}
"""))
