"""Wrong variants of the table, on which the tests that the page shows must fail."""

from state import KeyTable


class GivesTwice(KeyTable):
    def __call__(self, keys, add=True):
        return super().__call__(keys, add) // 2


class LosesKeys(KeyTable):
    def keys(self):
        return super().keys()[1:]


MUTANTS = {
    "test_four_threads_give_no_number_twice": {
        "state.KeyTable": [GivesTwice, LosesKeys]
    }
}
