"""The summary scenario with tf.summary. Imported by tensorflow_peer.py."""

import os

import tensorflow as tf

import summary


class _Writer:
    def __init__(self, folder):
        self.folder = folder
        self.writer = tf.summary.create_file_writer(folder)
        self.flush = self.writer.flush

    def path(self):
        return os.path.join(self.folder, os.listdir(self.folder)[0])

    def __enter__(self):
        self.scope = self.writer.as_default()
        self.scope.__enter__()

    def __exit__(self, *error):
        self.scope.__exit__(*error)

    def scalar(self, value, step):
        tf.summary.scalar("loss", value, step=step)

    def histogram(self, values, step):
        tf.summary.histogram("x", values, step=step)


def add_cases():
    summary.add_cases(_Writer)
