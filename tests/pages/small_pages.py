"""Pages that tests write: their cells do without TensorFlow, which a fork would have imported."""

FRONT = """\
---
file_format: mystnb
kernelspec:
  display_name: Python 3
  language: python
  name: python3
kernel: own
---

# {title}

"""


def beginning(title: str = "A page") -> str:
    """Front matter and title."""
    return FRONT.format(title=title)


def cell(source: str, tags: str = "") -> str:
    """A code cell. What one shows that does not vary is compared with docs/support/outputs."""
    options = f":tags: [{tags}]\n\n" if tags else ""
    return f"```{{code-cell}} ipython3\n{options}{source}\n```\n\n"
