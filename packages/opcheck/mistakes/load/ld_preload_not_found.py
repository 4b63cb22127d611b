import os
import subprocess

# [wrong]
library = "/lib/your_op.so"
# [cured]
library = ""
# [both]
subprocess.run(["/bin/true"], env={**os.environ, "LD_PRELOAD": library})
