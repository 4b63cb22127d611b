"""Datasets that keep their rows in memory or lose some, on which the test that the page shows must fail."""

from dataset import npy_dataset


def keeps_its_rows(name):
    return npy_dataset(name).cache()


def ends_early(name):
    return npy_dataset(name).take(9)


MUTANTS = {
    "test_ten_epochs_take_less_memory_than_half_of_the_file": {
        "dataset.npy_dataset": [keeps_its_rows, ends_early]
    }
}
