from your_ops import library

# [wrong]
handle = library.your_handle(shared_name="table")
# [cured]
handle = library.your_handle(shared_name="table")
library.your_create(handle)
# [both]
library.your_lookup(handle)
