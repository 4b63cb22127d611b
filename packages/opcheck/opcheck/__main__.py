"""`python -m opcheck`."""

import sys

from opcheck.command import main

if __name__ == "__main__":
    sys.exit(main())
