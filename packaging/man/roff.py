"""Converts text to roff, with the few macros of man(7) that the pages use."""


def escape(text):
    """Escapes text so that roff prints it literally, on any number of lines."""
    text = text.replace("\\", r"\(rs").replace("-", r"\-")
    # A dot or quote at the beginning of a line would be read as a request.
    return "\n".join(r"\&" + line if line[:1] in (".", "'") else line for line in text.split("\n"))


def bold(text):
    return rf"\fB{escape(text)}\fR"


def italic(text):
    return rf"\fI{escape(text)}\fR"


def item(tag, text):
    """Returns a tagged paragraph; the tag must be roff already."""
    return f".TP\n{tag}\n{escape(text)}\n"


def prose(text):
    """Returns paragraphs; runs of indented lines are kept verbatim."""
    output, literal = [], False
    for line in text.split("\n"):
        if line.startswith("  ") and not literal:
            output += [".RS 2", ".nf"]
        elif not line.startswith("  ") and literal:
            output += [".fi", ".RE"]
        literal = line.startswith("  ")
        output.append(escape(line.strip()) if line.strip() else ".PP")
    if literal:
        output += [".fi", ".RE"]
    return "\n".join(output) + "\n"
