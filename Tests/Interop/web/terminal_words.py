"""Extracts the words of the page and of the terminal, to compare them part by part."""


# Bars and histories, which the page draws as pictures; and the brackets that represent the frame of
# a badge.
PICTURES = str.maketrans({**{picture: " " for picture in "▁▂▃▄▅▆▇█░"}, "[": " ", "]": " "})

WORDS_OF_THE_PAGE = """() => {
  const words = (root) => {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT, (node) =>
      node.nodeType === Node.TEXT_NODE ? NodeFilter.FILTER_ACCEPT
        : node.matches("button, h2, figure, [hidden]") || !node.checkVisibility() ? NodeFilter.FILTER_REJECT
        : NodeFilter.FILTER_SKIP);
    const found = [];
    while (walker.nextNode()) found.push(walker.currentNode.data);
    return found.join(" ");
  };
  const parts = [...document.querySelectorAll("#screen section")].map((part) => [part.querySelector("h2").textContent, words(part)]);
  const head = [...document.querySelectorAll("#screen > .column > :not(section)")].map(words).join(" ");
  return { ...Object.fromEntries(parts), head, foot: words(document.getElementById("foot")) };
}"""


def words(text):
    return text.translate(PICTURES).split()


def words_of_the_terminal(daemon, room):
    """Returns the words that `livehostctl show` prints, by the titles of the parts."""
    blocks = [block.split("\n") for block in daemon.ctl("show", room, columns=100_000).strip("\n").split("\n\n")]
    head, *parts, foot = blocks
    found = {title: words("\n".join(lines)) for title, *lines in parts}
    return {**found, "head": words(head[0])[1:], "foot": words("\n".join(foot))}


def first_difference(left, right):
    at = next((at for at, (one, other) in enumerate(zip(left, right)) if one != other), min(len(left), len(right)))
    return left[at:at + 8], right[at:at + 8]
