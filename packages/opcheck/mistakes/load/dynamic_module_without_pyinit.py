import os
import shutil
import sys

sys.path.insert(0, "")
open("your.py", "w").write("library = None")
# [wrong]
shutil.copy(os.environ["YOUR_OPS"], "your.so")
# [cured]
shutil.copy(os.environ["YOUR_OPS"], "libyour.so")
# [both]
import your  # noqa: E402, F401
