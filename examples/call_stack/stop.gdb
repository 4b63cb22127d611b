set auto-solib-add off
set breakpoint pending on
break PickNumbersOp::Compute
ignore 1 1
catch load pick_numbers
run
sharedlibrary pick_numbers
continue
sharedlibrary tensorflow_framework
backtrace 4
next 6
print from[0]@3
thread apply all backtrace
printf "%s\n", indices.DebugString(10)._M_dataplus._M_p
