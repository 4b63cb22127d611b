"""Wrong variants of KeyTable, on which the test that the page shows must fail."""

from state import KeyTable


class NumbersTwice(KeyTable):
    def __call__(self, keys, add=True):
        return super().__call__(keys, add) // 2


class ReadsAFew(KeyTable):
    def keys(self):
        return super().keys()[:10]


MUTANTS = {
    "test_four_threads_give_no_number_twice": {
        "state.KeyTable": [NumbersTwice, ReadsAFew]
    }
}
