# gdb -x stop.gdb --args python program.py
# Reading the names of all of TensorFlow takes minutes: read those of your library alone, as soon as it is there.
set auto-solib-add off
catch load libcall_stack
run
sharedlibrary libcall_stack
break CallStackOp::Compute
continue
# Where are we? The names of TensorFlow's frames are in this library.
sharedlibrary libtensorflow_framework
backtrace 6
# The other threads wait.
info threads
