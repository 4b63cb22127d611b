"""What the tests share."""

import os

for name, value in {
    "CUDA_VISIBLE_DEVICES": "-1",
    "TF_CPP_MIN_LOG_LEVEL": "2",
    "TF_ENABLE_ONEDNN_OPTS": "0",
}.items():
    os.environ.setdefault(name, value)
