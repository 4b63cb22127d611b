import subprocess
from pathlib import Path

import tensorflow as tf

Path("main.c").write_text("int TF_Version(); int main() { return !TF_Version(); }")
folder = tf.sysconfig.get_lib()
libraries = [
    f"-L{folder}",
    "-l:libtensorflow_cc.so.2",
    "-l:libtensorflow_framework.so.2",
]
command = ["gcc", "main.c", "-o", "main", *libraries]
# [wrong]
subprocess.run(command, stderr=subprocess.DEVNULL)
# [cured]
subprocess.run([*command, f"-Wl,-rpath,{folder}"])
# [both]
subprocess.run(["./main"])
