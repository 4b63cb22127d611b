"""The checks that run where the op is called. Each takes the Subject and the Findings."""

from opcheck.checks import gradient, schema, shapes, threads, transforms, values

# By name: the function, and the chapter that explains its failures.
IN_WORKER = {
    "reference": (values.reference, "zero_out"),
    "eager_vs_graph": (values.eager_vs_graph, "shape_functions"),
    "static_shape": (shapes.static_shape, "shape_functions"),
    "dtypes": (values.dtypes, "polymorphism"),
    "gradient": (gradient.gradient, "multi_output"),
    "concurrency": (threads.concurrency, "zero_out"),
    "immutability": (threads.immutability, "opcheck"),
    "devices": (transforms.devices, "gpu"),
    "vectorize": (transforms.vectorize, "multi_output"),
    "xla": (transforms.xla, "opcheck"),
    "schema": (schema.schema, "attrs"),
}
