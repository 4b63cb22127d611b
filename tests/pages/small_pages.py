"""How a page begins that a test writes."""

BEGINNING = """\
---
file_format: mystnb
kernelspec:
  display_name: Python 3
  language: python
  name: python3
---

# {title}

```{{code-cell}} ipython3
:tags: [remove-cell]

%run support/start.py
```

"""


def beginning(title: str = "A page") -> str:
    """Front matter, title and the first cell."""
    return BEGINNING.format(title=title)
