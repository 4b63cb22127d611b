"""`make lint` finds a member that is used without its mutex."""

import sys

import pytest
import tensorflow as tf
import tidy


def test_an_example_that_is_not_there_is_no_clean_one(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["tidy.py", "zero_out", "typo"])
    with pytest.raises(SystemExit, match="^make lint: no example typo; there are "):
        tidy.main()


CODE = """
#include <mutex>
#include "absl/base/thread_annotations.h"
class Counter {
 public:
  void Add() {
    LOCK
    ++count_;
  }
 private:
  std::mutex mutex_;
  int count_ ABSL_GUARDED_BY(mutex_) = 0;
};
"""


@pytest.mark.skipif(tidy.LIBCXX is None, reason="needs libc++-dev")
@pytest.mark.parametrize(
    "lock", ["const std::lock_guard<std::mutex> lock(mutex_);", ""]
)
def test_a_member_needs_its_mutex(lock, tmp_path):
    source = tmp_path / "counter.cc"
    source.write_text(CODE.replace("LOCK", lock))
    found = tidy.look(source, "-std=c++17", f"-isystem{tf.sysconfig.get_include()}")
    assert bool(found) == (not lock), found
    assert lock or "requires holding mutex 'mutex_'" in found
