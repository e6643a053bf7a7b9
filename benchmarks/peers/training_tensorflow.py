"""Trains as the example does, with TensorFlow. If TF_CONFIG is set, the program is one of several
workers and uses MultiWorkerMirroredStrategy. Otherwise it is the only one, without communication.
"""
import json
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras  # pylint: disable=wrong-import-position
import tensorflow as tf  # pylint: disable=wrong-import-position

import training_common as common  # pylint: disable=wrong-import-position


class TensorFlow:
    def __init__(self):
        tf.config.threading.set_intra_op_parallelism_threads(1)
        tf.config.threading.set_inter_op_parallelism_threads(1)
        cluster = json.loads(os.environ.get("TF_CONFIG", "{}"))
        self.rank = cluster["task"]["index"] if cluster else 0
        self.world_size = len(cluster["cluster"]["worker"]) if cluster else 1
        self.strategy = (tf.distribute.MultiWorkerMirroredStrategy() if cluster
                         else tf.distribute.get_strategy())

    def to_memory(self, images, labels):
        return tf.constant(images), tf.constant(labels)

    def build(self, model, seed, learning_rate, momentum):
        keras.utils.set_random_seed(seed)
        with self.strategy.scope():
            network = keras.Sequential([keras.Input((28, 28)), *layers_of(model)])
            optimizer = keras.optimizers.SGD(learning_rate, momentum)
            optimizer.build(network.trainable_variables)
        return network, self.training_of(network, optimizer)

    def training_of(self, network, optimizer):
        """Puts all steps into one graph, so that Python takes no part in them."""
        def step(images, labels):
            with tf.GradientTape() as tape:
                losses = tf.nn.sparse_softmax_cross_entropy_with_logits(
                    labels, network(images, training=True))
                # The optimizer sums the gradients of the workers.
                loss = tf.reduce_mean(losses) / self.world_size
            gradients = tape.gradient(loss, network.trainable_variables)
            optimizer.apply_gradients(zip(gradients, network.trainable_variables))

        @tf.function(reduce_retracing=True)
        def train(images, labels, order):
            for places in order:
                self.strategy.run(step, args=(tf.gather(images, places), tf.gather(labels, places)))

        return train

    def train(self, built, images, labels, order):
        _, train = built
        train(images, labels, tf.constant(order))

    def count_correct(self, built, images, labels):
        network, _ = built
        correct = 0
        for first in range(0, len(labels), 1000):
            guesses = tf.argmax(network(images[first:first + 1000]), axis=1)
            correct += int(tf.reduce_sum(tf.cast(guesses == labels[first:first + 1000], tf.int32)))
        return correct


def layers_of(model):
    def normal(is_last, inputs, outputs):
        return keras.initializers.RandomNormal(
            stddev=common.deviation_of(model, is_last, inputs, outputs))

    def dense(inputs, outputs, activation=None):
        return keras.layers.Dense(
            outputs, activation, kernel_initializer=normal(activation is None, inputs, outputs),
            bias_initializer=keras.initializers.RandomNormal(stddev=1) if model == "seed" else "zeros")

    def convolution(channels, filters):
        return keras.layers.Conv2D(filters, 5, padding="same", activation="relu",
                                   kernel_initializer=normal(False, 25 * channels, filters))

    if model == "seed":
        return [keras.layers.Flatten(), dense(784, 100, "sigmoid"), dense(100, common.CLASSES)]
    if model == "mlp":
        return [keras.layers.Flatten(), dense(784, 512, "relu"), dense(512, 512, "relu"),
                dense(512, common.CLASSES)]
    return [keras.layers.Reshape((28, 28, 1)),
            convolution(1, 32), keras.layers.MaxPool2D(),
            convolution(32, 64), keras.layers.MaxPool2D(),
            keras.layers.Flatten(), dense(64 * 7 * 7, 512, "relu"), dense(512, common.CLASSES)]


if __name__ == "__main__":
    common.Worker(TensorFlow(), common.arguments()).run()
