import shutil
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
# The other linker takes five times as long for this library.
gold = ["-fuse-ld=gold"] if shutil.which("ld.gold") else []
command = ["gcc", "main.c", "-o", "main", *gold, *libraries]
# [wrong]
subprocess.run(command, stderr=subprocess.DEVNULL)
# [cured]
subprocess.run([*command, f"-Wl,-rpath,{folder}"])
# [both]
subprocess.run(["./main"])
