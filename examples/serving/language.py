"""A small model that tells languages apart: `python language.py FOLDER` saves it there, in two formats."""

import sys
from pathlib import Path

import keras
import numpy as np
import tensorflow as tf
from serving import ByteNgrams

LANGUAGES = ("English", "German", "French")
# The first article of the Universal Declaration of Human Rights, and some more.
TEXTS = (
    "All human beings are born free and equal in dignity and rights.",
    "They are endowed with reason and conscience and should act towards one another in a spirit of brotherhood.",
    "Everyone has the right to life, liberty and security of person.",
    "Alle Menschen sind frei und gleich an Würde und Rechten geboren.",
    "Sie sind mit Vernunft und Gewissen begabt und sollen einander im Geist der Brüderlichkeit begegnen.",
    "Jeder hat das Recht auf Leben, Freiheit und Sicherheit der Person.",
    "Tous les êtres humains naissent libres et égaux en dignité et en droits.",
    "Ils sont doués de raison et de conscience et doivent agir les uns envers les autres dans un esprit de fraternité.",
    "Tout individu a droit à la vie, à la liberté et à la sûreté de sa personne.",
)


def train() -> keras.Model:
    """A model of one dense layer on the counts."""
    keras.utils.set_random_seed(1)
    model = keras.Sequential(
        [
            keras.Input([], dtype="string"),
            ByteNgrams(n=3, buckets=512),
            keras.layers.Dense(len(LANGUAGES), activation="softmax"),
        ]
    )
    model.compile("adam", "sparse_categorical_crossentropy")
    # Each word is a text of its own, too: nine are few to learn from.
    words = [(w, i // 3) for i, text in enumerate(TEXTS) for w in text.split()]
    texts = tf.constant([word for word, _ in words] + list(TEXTS))
    labels = np.array(
        [label for _, label in words] + [i // 3 for i in range(len(TEXTS))]
    )
    model.fit(texts, labels, epochs=60, batch_size=32, verbose=0)
    return model


def save(folder: Path) -> keras.Model:
    """Saves the model as `language.keras`, and as the SavedModel `language` with what a server needs."""
    model = train()
    folder.mkdir(parents=True, exist_ok=True)
    model.save(folder / "language.keras")
    export(model, folder / "language")
    return model


def export(model: keras.Model, folder: Path) -> None:
    """A SavedModel with one signature: texts in, languages and their probabilities out."""
    languages = tf.constant(LANGUAGES)

    def answer(texts: tf.Tensor) -> dict[str, tf.Tensor]:
        probabilities = model(texts)
        return {
            "language": tf.gather(languages, tf.argmax(probabilities, axis=-1)),
            "probability": tf.cast(tf.reduce_max(probabilities, axis=-1), tf.float32),
        }

    archive = keras.export.ExportArchive()
    archive.track(model)
    spec = tf.TensorSpec([None], tf.string, name="texts")
    archive.add_endpoint("serving_default", answer, [spec])
    archive.write_out(str(folder), verbose=False)


if __name__ == "__main__":
    save(Path(sys.argv[1]))
