"""Wrong variants of Sample, on which the tests that the page shows must fail."""

import tensorflow as tf
from state_sample import SAVED, Sample, library


class KeepsItsOwnSeed(Sample):
    def _restore_from_tensors(self, restored):
        restored = {**restored, "seed": self.seed}
        return library.write_sample(
            self.resource_handle, *[restored[name] for name in SAVED]
        )


class IgnoresLaterCalls(Sample):
    def add(self, values):
        return None if len(self.values()) else super().add(values)


class RepeatsAValue(Sample):
    def values(self):
        kept = super().values()
        return tf.concat([kept[:1], kept[:-1]], 0)


MUTANTS = {
    "test_a_smaller_one_goes_on_as_if_it_had_always_been": {
        "state_sample.Sample": [KeepsItsOwnSeed]
    },
    "test_each_value_is_as_likely_as_any_other": {
        "state_sample.Sample": [IgnoresLaterCalls, RepeatsAValue]
    },
}
