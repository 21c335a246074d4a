#!/usr/bin/env python3
"""A chat server that is as much of Twitch's as livehost-source needs: `irc.py PORT`. Says one message in each channel
that is joined, and serves until it is ended."""
import socketserver
import sys


class Chat(socketserver.StreamRequestHandler):
    def say(self, line):
        self.wfile.write(line.encode() + b"\r\n")

    def handle(self):
        nick = "nobody"
        for line in self.rfile:
            words = line.decode().split()
            if words[:2] == ["CAP", "REQ"]:
                self.say(":irc.test CAP * ACK " + " ".join(words[2:]))
            elif words[:1] == ["NICK"]:
                nick = words[1]
                self.say(f":irc.test 001 {nick} :Welcome, GLHF!")
                self.say(f":irc.test 376 {nick} :>")
            elif words[:1] == ["PING"]:
                self.say(":irc.test PONG irc.test " + " ".join(words[1:]))
            elif words[:1] == ["JOIN"]:
                for channel in words[1].split(","):
                    self.say(f":{nick}!{nick}@{nick}.irc.test JOIN {channel}")
                    self.say(f"@room-id=7 :irc.test ROOMSTATE {channel}")
                    self.say(f":irc.test 366 {nick} {channel} :End of /NAMES list")
                    self.say("@display-name=Ada;id=11111111-2222-4333-8444-555555555555;tmi-sent-ts=1790000000000;"
                             f"user-id=9 :ada!ada@ada.irc.test PRIVMSG {channel} :hello from the chat")


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = daemon_threads = True


Server(("127.0.0.1", int(sys.argv[1])), Chat).serve_forever()
