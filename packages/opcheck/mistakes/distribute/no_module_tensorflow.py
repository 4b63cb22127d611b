import subprocess
import sys

# [wrong]
options = ["-I", "-S"]  # without installed packages, as in pip's own environment
# [cured]
options = []
# [both]
subprocess.run([sys.executable, *options, "-c", "import tensorflow"])
