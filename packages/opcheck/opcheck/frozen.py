"""Import it last in a process that makes forks: what is there then stays.

The garbage collector of a fork would look at all of TensorFlow's objects again and again, and copy their pages.
"""

import gc

gc.collect()
gc.freeze()
