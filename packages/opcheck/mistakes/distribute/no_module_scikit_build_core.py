import subprocess
import sys

# [wrong]
options = ["-I", "-S"]  # without installed packages, as in another environment
# [cured]
options = []
# [both]
subprocess.run([sys.executable, *options, "-c", "import scikit_build_core"])
