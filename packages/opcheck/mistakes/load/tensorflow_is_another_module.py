import subprocess
import sys
from pathlib import Path

program = "import tensorflow as tf; tf.load_op_library"
# [wrong]
Path("tensorflow.py").touch()
# [cured]
Path("tensorflow.py").unlink(missing_ok=True)
# [both]
subprocess.run([sys.executable, "-c", program])
