import tensorflow as tf
from your_ops import library


class YourModel(tf.Module):
    @tf.function(input_signature=[tf.TensorSpec([2])])
    def __call__(self, x):
        return library.your_project_your_op(x)


# [wrong]
options = tf.saved_model.SaveOptions(namespace_whitelist=["OtherProject"])
# [cured]
options = tf.saved_model.SaveOptions(
    namespace_whitelist=["OtherProject", "YourProject"]
)
# [both]
tf.saved_model.save(YourModel(), "model", options=options)
