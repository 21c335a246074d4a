"""Options and verbs of a command line as roff."""
from roff import bold, escape, italic, item, prose


def options(arguments):
    return "".join(option(argument) for argument in arguments)


def option(argument):
    names = ", ".join(bold(name) for name in argument.names)
    if argument.takes_value:
        names += (bold("=") if argument.names[0].startswith("--") else " ") + italic(
            argument.value_name)
    return item(names, described(argument))


def described(argument):
    text = argument.abstract
    # Values that are part of the text already are not repeated.
    missing = [value for value in argument.values if value not in text]
    if missing:
        text += f" One of {', '.join(argument.values)}."
    if argument.default and argument.default not in text:
        text += f" Default: {argument.default}."
    return text


def synopsis(command):
    words = [bold(" ".join(command.path))]
    words += [escape("[") + short(argument) + escape("]") + repeated(argument)
              for argument in command.options]
    for argument in command.positionals:
        word = italic(argument.value_name) + repeated(argument)
        words.append(f"[{word}]" if argument.is_optional else word)
    return " ".join(words)


def short(argument):
    name = bold(argument.names[-1])
    return f"{name} {italic(argument.value_name)}" if argument.takes_value else name


def repeated(argument):
    return " ..." if argument.is_repeating else ""


def sections(root, without=()):
    """Each verb of a program with its arguments, but those that the page describes elsewhere."""
    output = []
    for command in root.all():
        if not command.path or command.subcommands or command.name in without:
            continue
        output.append(f".SS {synopsis(command)}\n")
        output.append(prose(command.abstract))
        output += [item(italic(argument.value_name), described(argument))
                   for argument in command.positionals if argument.abstract]
        output.append(options(command.options))
        if command.discussion:
            output.append(".PP\n" + prose(command.discussion))
    return "".join(output)
