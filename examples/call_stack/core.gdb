sharedlibrary pick_numbers
sharedlibrary tensorflow_framework
backtrace 3
print i
print index[i]
