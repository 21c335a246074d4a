"""The command line of a program of livehost, from its own description (`--experimental-dump-help`)."""
import json
import subprocess

# Every verb has these, so they are described once.
COMMON = ("help", "version")


class Command:
    def __init__(self, dump, path=()):
        self.name = dump["commandName"]
        self.path = path
        self.abstract = dump.get("abstract", "")
        self.discussion = dump.get("discussion", "")
        self.arguments = [Argument(entry) for entry in dump.get("arguments", [])
                          if entry.get("shouldDisplay", True)]
        self.subcommands = [Command(entry, path + (entry["commandName"],))
                            for entry in dump.get("subcommands", [])
                            if entry["commandName"] != "help" and entry.get("shouldDisplay", True)]

    @property
    def positionals(self):
        return [argument for argument in self.arguments if argument.kind == "positional"]

    @property
    def options(self):
        """The options of this command only."""
        return [argument for argument in self.arguments
                if argument.kind != "positional" and not argument.is_global
                and argument.value_name not in COMMON]

    @property
    def global_options(self):
        return [argument for argument in self.arguments if argument.is_global]

    def all(self):
        """This command and all its subcommands."""
        yield self
        for command in self.subcommands:
            yield from command.all()


class Argument:
    def __init__(self, dump):
        self.kind = dump["kind"]
        self.abstract = dump.get("abstract", "")
        self.default = dump.get("defaultValue")
        self.values = dump.get("allValues") or []
        self.value_name = dump.get("valueName", "")
        self.is_optional = dump.get("isOptional", False)
        self.is_repeating = dump.get("isRepeating", False)
        self.is_global = dump.get("sectionTitle") == "Global options"
        self.names = [("-" if name["kind"] == "short" else "--") + name["name"]
                      for name in dump.get("names", [])]

    @property
    def takes_value(self):
        return self.kind == "option"


def read(program):
    """The root command of a program."""
    output = subprocess.run([program, "--experimental-dump-help"], check=True, timeout=60,
                            stdout=subprocess.PIPE).stdout
    return Command(json.loads(output)["command"])
