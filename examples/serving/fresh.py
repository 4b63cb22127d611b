"""Runs lines of Python in a new process, which knows nothing of what this one has loaded."""

import os
import subprocess
import sys

# Of a message the first two lines, without the configurations and places that some are full of.
CATCHING = """
import re, sys
try:
    exec({code!r}, {{}})
except Exception as error:
    long = r"loc\\(.*\\): |config=.*|Full object config.*"
    lines = [re.sub(long, "", line).strip() for line in str(error).splitlines()]
    name = type(error).__name__.replace("RuntimeError", "")
    print(*filter(None, [name and f"{{name}}:", *[x for x in lines if x][:2]]), file=sys.stderr)
    sys.exit(3)
"""


def fresh(*lines: str) -> str:
    """Runs the lines and returns what they print.

    Raises:
      RuntimeError: With the type and the message of the exception with which they end.
    """
    code = "\n".join(lines)
    catching = CATCHING.format(code=code)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", catching]
    run = subprocess.run(command, env=environment, capture_output=True, text=True)
    if run.returncode:
        raise RuntimeError((run.stderr.splitlines() or [str(run.returncode)])[-1])
    return run.stdout


LITE = """
import tensorflow as tf
import serving
converter = tf.lite.TFLiteConverter.from_saved_model({model!r}, signature_keys=["serving_default"])
for name, value in {options!r}.items():
    if name == "experimental_select_user_tf_ops":
        lite = tf.lite.OpsSet
        converter.target_spec.supported_ops = [lite.TFLITE_BUILTINS, lite.SELECT_TF_OPS]
        converter.target_spec.experimental_select_user_tf_ops = value
    else:
        setattr(converter, name, value)
content = converter.convert()
runner = tf.lite.Interpreter(model_content=content).get_signature_runner("serving_default")
print(runner(texts=tf.constant(["Wo ist der Bahnhof?"])))
"""


def convert(model: str = "build/serving/language", **options) -> str:
    """Converts a SavedModel for LiteRT and runs it, in a new process."""
    return fresh(LITE.format(model=str(model), options=options))
