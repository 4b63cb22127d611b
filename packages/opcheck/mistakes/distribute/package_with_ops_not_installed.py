import importlib

# [wrong]
importlib.import_module("tensorflow_addons")
# [cured]
importlib.import_module("tensorflow")
