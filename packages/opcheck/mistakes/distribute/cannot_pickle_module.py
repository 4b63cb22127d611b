import pickle

from your_ops import library, your_op

# [wrong]
pickle.dumps({"op": library})
# [cured]
pickle.dumps({"op": your_op})  # a function of a module, which loads the library
