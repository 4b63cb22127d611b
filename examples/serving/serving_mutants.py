"""Wrong variants, on which the test that the page shows must fail."""

import keras
from serving import ByteNgrams


@keras.saving.register_keras_serializable("wrong")
class ForgetsN(ByteNgrams):
    def get_config(self):
        return {name: x for name, x in super().get_config().items() if name != "n"}


MUTANTS = {"test_a_loaded_model_computes_the_same": {"serving.ByteNgrams": [ForgetsN]}}
