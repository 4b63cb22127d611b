"""A wrong variant of Sample, on which the test that the page shows must fail."""

from state_sample import SAVED, Sample, library


class KeepsItsOwnSeed(Sample):
    def _restore_from_tensors(self, restored):
        restored = {**restored, "seed": self.seed}
        return library.write_sample(
            self.resource_handle, *[restored[name] for name in SAVED]
        )


MUTANTS = {
    "test_a_smaller_one_goes_on_as_if_it_had_always_been": {
        "state_sample.Sample": [KeepsItsOwnSeed]
    }
}
